#include "analyzer/evidence/black_box_reader.h"

#include <cmath>

#include "tests/unit/analyzer/evidence/box_builder.h"
#include "tests/unit/catch.h"

using inquest::evidence::Notes;
using inquest::evidence::read_black_box;
using inquest::testing::BoxBuilder;

namespace {

struct Read {
    std::optional<inquest::evidence::BoxEvidence> box;
    std::vector<inquest::model::Note> notes;
};

Read read(const std::string& bytes) {
    Notes notes;
    Read result;
    result.box = read_black_box("n1/box-815-4711.ibb", bytes, notes);
    result.notes = notes.take();
    return result;
}

bool has_note(const Read& read, const std::string& part) {
    for (const auto& note : read.notes) {
        if (note.text.find(part) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("a healthy box becomes a rank") {
    BoxBuilder builder;
    builder.live.rank = 2;
    builder.live.step = 41;
    builder.live.last_progress_mono_ns = BoxBuilder::kMonoNs + 5;
    builder.collective("all_reduce", 1, 100, 200);
    builder.collective("barrier", 2, 300, 0);
    const Read result = read(builder.bytes());
    REQUIRE(result.box);
    CHECK(result.notes.empty());
    const auto& rank = result.box->rank;
    CHECK(result.box->job == 17);
    CHECK(result.box->step == "0");
    CHECK(rank.rank == 2);
    CHECK(rank.world_size == 4);
    CHECK(rank.pid == 815);
    CHECK(rank.start_time_ticks == 4711);
    CHECK(rank.node == "n1");
    CHECK(rank.step == 41);
    CHECK(rank.last_progress_wall_ns == static_cast<int64_t>(BoxBuilder::kWallNs + 5));
    REQUIRE(rank.collectives.size() == 2);
    CHECK(rank.collectives[0].operation == "all_reduce");
    CHECK(rank.collectives[0].begin_wall_ns == static_cast<int64_t>(BoxBuilder::kWallNs + 100));
    CHECK(rank.collectives[0].end_wall_ns == static_cast<int64_t>(BoxBuilder::kWallNs + 200));
    CHECK(rank.collectives[0].place.line == 84);
    CHECK_FALSE(rank.collectives[1].end_wall_ns);
    CHECK(rank.collectives[1].source.position == "collectives record 2");
    CHECK_FALSE(rank.exit_status);
}

TEST_CASE("every kind of event is read") {
    BoxBuilder b;
    const auto events = INQUEST_RING_EVENTS;
    b.record(events, INQUEST_KIND_ENVIRONMENT, 1, 0, {{INQUEST_TEXT_KEY, "RANK"}, {INQUEST_TEXT_VALUE, "2"}});
    b.record(events, INQUEST_KIND_GROUP, 2, 0,
             {{INQUEST_TEXT_GROUP_NAME, "0"}, {INQUEST_TEXT_GROUP_RANKS, "0-2,5"}},
             {{INQUEST_NUMBER_GROUP_TIMEOUT_NS, 600}});
    b.record(events, INQUEST_KIND_MODEL, 3, 0, {{INQUEST_TEXT_WRAPPER, "DistributedDataParallel"}},
             {{INQUEST_NUMBER_PARAMETERS, 10}, {INQUEST_NUMBER_BUFFERS, 3}});
    b.record(
        events, INQUEST_KIND_BACKWARD_BEGIN, 4, 7, {},
        {{INQUEST_NUMBER_LOSS_BITS, std::bit_cast<int64_t>(std::nan(""))}, {INQUEST_NUMBER_HAS_LOSS, 1}});
    b.record(events, INQUEST_KIND_BACKWARD_END, 5, 7);
    b.record(events, INQUEST_KIND_STEP, 6, 0, {},
             {{INQUEST_NUMBER_STEP, 1}, {INQUEST_NUMBER_MICRO_BATCHES, 2}});
    b.record(events, INQUEST_KIND_PHASE_BEGIN, 7, 8, {{INQUEST_TEXT_PHASE_CALL, "torch.save"}},
             {{INQUEST_NUMBER_PHASE, INQUEST_PHASE_SAVE}});
    b.record(events, INQUEST_KIND_EXCEPTION, 8, 0, {{INQUEST_TEXT_EXCEPTION_TYPE, "ValueError"}},
             {{INQUEST_NUMBER_UNCAUGHT, 1}});
    b.record(events, INQUEST_KIND_CHILD_END, 9, 0, {},
             {{INQUEST_NUMBER_CHILD_PID, 816},
              {INQUEST_NUMBER_CHILD_WAIT_STATUS, 15},
              {INQUEST_NUMBER_CHILD_WAS_TOLD, 1}});
    b.record(events, INQUEST_KIND_EXIT, 9, 0, {}, {{INQUEST_NUMBER_EXIT_STATUS, 3}});
    const Read result = read(b.bytes());
    REQUIRE(result.box);
    CHECK(result.notes.empty());
    const auto& rank = result.box->rank;
    CHECK(rank.environment.at("RANK") == "2");
    CHECK(rank.groups.at(0).ranks == std::vector<int>{0, 1, 2, 5});
    CHECK(rank.groups.at(0).timeout_ns == 600);
    CHECK(rank.models.at(0).buffers == 3);
    CHECK(std::isnan(rank.backwards.at(0).loss.value()));
    CHECK(rank.backwards.at(0).end_wall_ns == static_cast<int64_t>(BoxBuilder::kWallNs + 5));
    CHECK(rank.steps.at(0).micro_batches == 2);
    CHECK(rank.phases.at(0).phase == INQUEST_PHASE_SAVE);
    CHECK_FALSE(rank.phases.at(0).end_wall_ns);
    CHECK(rank.exceptions.at(0).uncaught);
    CHECK(rank.child_ends.at(0).pid == 816);
    CHECK(rank.child_ends.at(0).wait_status == 15);
    CHECK(rank.child_ends.at(0).was_told);
    CHECK(rank.exit_status == 3);
}

TEST_CASE("a ring that wrapped keeps the newest records and says so") {
    BoxBuilder builder;
    for (int i = 1; i <= 1500; ++i) {
        builder.live.strings_used_bytes = 0;  // the same texts again
        builder.collective("all_reduce", i, static_cast<uint64_t>(10 * i), static_cast<uint64_t>(10 * i + 5));
    }
    const Read result = read(builder.bytes());
    REQUIRE(result.box);
    CHECK(result.notes.empty());
    CHECK(result.box->rank.collectives_overwritten);
    CHECK(result.box->rank.collectives.size() == 1024);
    CHECK(result.box->rank.collectives.front().sequence == 477);
    CHECK(result.box->rank.collectives.back().sequence == 1500);
}

TEST_CASE("torn records are counted and left out") {
    BoxBuilder builder;
    builder.collective("all_reduce", 1, 100, 200);
    builder.collective("barrier", 2, 300, 400);
    builder.slot(INQUEST_RING_COLLECTIVES, 2)->begin_mark = 0;  // killed before the last store
    builder.live.ring_head[INQUEST_RING_COLLECTIVES] += 1;      // claimed, nothing written
    const Read result = read(builder.bytes());
    REQUIRE(result.box);
    CHECK(has_note(result, "2 torn records in ring collectives"));
    CHECK(result.box->rank.collectives.size() == 1);
}

TEST_CASE("a record written after the head was copied is whole") {
    BoxBuilder builder;
    builder.collective("all_reduce", 1, 100, 200);
    builder.live.ring_head[INQUEST_RING_COLLECTIVES] = 1;
    const Read result = read(builder.bytes());
    REQUIRE(result.box);
    CHECK(result.notes.empty());
    CHECK(result.box->rank.collectives.at(0).end_wall_ns);
}

TEST_CASE("boxes that cannot be read are named") {
    BoxBuilder builder;
    CHECK(has_note(read(""), "empty"));
    CHECK(has_note(read(std::string(100, '\0')), "ends in its header"));
    CHECK(has_note(read(std::string(INQUEST_BOX_TOTAL_BYTES, '\0')), "never finished"));
    builder.header.version = 7;
    CHECK(has_note(read(builder.bytes()), "version 7"));
    builder.header.version = 1;
    builder.header.byte_order = 0x04030201;
    CHECK(has_note(read(builder.bytes()), "byte order"));
    builder.header.byte_order = INQUEST_BOX_BYTE_ORDER;
    CHECK(has_note(read(builder.bytes().substr(0, 5000).substr(0, 4100)), "live counters"));
}

TEST_CASE("a truncated box gives what is left") {
    BoxBuilder builder;
    builder.record(INQUEST_RING_EVENTS, INQUEST_KIND_STEP, 6, 0, {}, {{INQUEST_NUMBER_STEP, 1}});
    builder.collective("all_reduce", 1, 100, 200);
    const uint64_t cut = builder.header.ring[INQUEST_RING_COLLECTIVES].offset_bytes;
    const Read result = read(builder.bytes().substr(0, cut));
    REQUIRE(result.box);
    CHECK(has_note(result, "truncated"));
    CHECK(has_note(result, "2 records cut off in ring collectives"));
    CHECK(result.box->rank.steps.size() == 1);
}

TEST_CASE("hostile numbers are survived and named") {
    BoxBuilder builder;
    builder.collective("all_reduce", 1, 100, 200);
    builder.slot(INQUEST_RING_COLLECTIVES, 0)->text[INQUEST_TEXT_FILE] = UINT32_MAX;
    builder.live.state = 99;
    builder.live.phase = 99;
    builder.header.ring[INQUEST_RING_EVENTS].offset_bytes = UINT64_MAX - 5;
    builder.header.created_mono_ns = UINT64_MAX;
    Read result = read(builder.bytes());
    REQUIRE(result.box);
    CHECK(has_note(result, "identifier points nowhere"));
    CHECK(has_note(result, "unknown state 99"));
    CHECK(has_note(result, "unknown phase 99"));
    CHECK(has_note(result, "impossible place of ring events"));
    CHECK(result.box->rank.collectives.at(0).begin_wall_ns == 0);
    builder.header.ring[INQUEST_RING_COLLECTIVES].capacity = UINT32_MAX;
    builder.header.strings.offset_bytes = UINT64_MAX;
    builder.live.ring_head[INQUEST_RING_COLLECTIVES] = UINT64_MAX;
    result = read(builder.bytes());
    CHECK(has_note(result, "impossible place of ring collectives"));
}

TEST_CASE("special steps have names") {
    BoxBuilder builder;
    builder.header.step_id = 0xFFFFFFFB;
    CHECK(read(builder.bytes()).box->step == "batch");
    builder.header.job_id = 0;
    CHECK_FALSE(read(builder.bytes()).box->job);
}
