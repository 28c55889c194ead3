#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "spank/recorder/inquest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/box_fixture.h"

using namespace inquest::recorder_test;

namespace {

void write(uint32_t ring, uint32_t kind, int64_t first = 0, int64_t second = 0, int64_t third = 0) {
    const int64_t numbers[INQUEST_BOX_RECORD_NUMBERS] = {first, second, third};
    inquest_box_write(ring, kind, 1, nullptr, numbers);
}

Box box_after(const TemporaryDirectory& directory, const std::function<void()>& body) {
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        body();
        return 0;
    });
    REQUIRE(status == 0);
    auto box = read_box(directory.files().front());
    REQUIRE(box);
    return *box;
}

}  // namespace

TEST_CASE("a record keeps what was written, in order, and the newest survive a full turn") {
    TemporaryDirectory directory;
    const Box box = box_after(directory, [] {
        for (int64_t i = 0; i < 5000; i++) {
            write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, i, -i);
        }
    });
    const auto records = box.records(INQUEST_RING_COLLECTIVES);
    REQUIRE(records.size() == INQUEST_BOX_COLLECTIVES_CAPACITY);
    CHECK(records.front().number[0] == 5000 - INQUEST_BOX_COLLECTIVES_CAPACITY);
    CHECK(records.back().number[0] == 4999);
    CHECK(records.back().number[1] == -4999);
    CHECK(records.front().mono_ns <= records.back().mono_ns);
    CHECK(records.back().thread_id == static_cast<uint32_t>(box.header().pid));
    CHECK(box.live().collectives_begun == 5000);
    CHECK(box.live().last_progress_mono_ns == records.back().mono_ns);
    CHECK(box.records(INQUEST_RING_EVENTS).size() == 1);
}

TEST_CASE("records move the live counters of their kind") {
    TemporaryDirectory directory;
    const Box box = box_after(directory, [] {
        write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, INQUEST_STATE_GROUP_READY);
        write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, INQUEST_STATE_TORCH_IMPORTED);
        inquest_box_set_rank(5, 8);
        inquest_box_set_stack_signal(40);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_BACKWARD_BEGIN, 61, 0x3ff0000000000000, 1);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_BACKWARD_END);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_STEP);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_BACKWARD_BEGIN, 61);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_BEGIN, 70, INQUEST_PHASE_SAVE);
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN);
    });
    const inquest_box_live& live = box.live();
    CHECK(live.state == INQUEST_STATE_GROUP_READY);
    CHECK(live.rank == 5);
    CHECK(live.world_size == 8);
    CHECK(live.stack_signal == 40);
    CHECK(live.backward_begun == 2);
    CHECK(live.backward_ended == 1);
    CHECK(live.step == 1);
    CHECK(live.micro_batches == 1);
    CHECK(live.loss_bits == 0x3ff0000000000000);
    CHECK(live.phase == INQUEST_PHASE_SAVE);
    CHECK(live.phase_since_mono_ns > 0);
    CHECK(live.collectives_begun == 1);
    CHECK(live.collectives_ended == 0);
}

TEST_CASE("phases nest, end in order and belong to the main thread") {
    TemporaryDirectory directory;
    const Box box = box_after(directory, [] {
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_END);
        for (int i = 0; i < 40; i++) {
            write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_BEGIN, 1, INQUEST_PHASE_LOAD);
        }
        write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_BEGIN, 1, INQUEST_PHASE_SAVE);
        for (int i = 0; i < 40; i++) {
            write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_END);
        }
        std::thread([] {
            write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_PHASE_BEGIN, 1, INQUEST_PHASE_SAVE);
        }).join();
    });
    CHECK(box.live().phase == INQUEST_PHASE_LOAD);
}

namespace {

void write_in_threads(int64_t count, int64_t records) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(count));
    for (int64_t thread = 0; thread < count; thread++) {
        threads.emplace_back([thread, records] {
            for (int64_t i = 0; i < records; i++) {
                write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, thread * 1000 + i, thread,
                      -thread);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

}  // namespace

TEST_CASE("threads that write at the same time lose and mix nothing") {
    TemporaryDirectory directory;
    const Box box = box_after(directory, [] { write_in_threads(4, 256); });
    std::set<int64_t> seen;
    for (const auto& record : box.records(INQUEST_RING_COLLECTIVES)) {
        CHECK(record.number[0] / 1000 == record.number[1]);
        CHECK(record.number[1] == -record.number[2]);
        seen.insert(record.number[0]);
    }
    CHECK(seen.size() == 1024);
}

TEST_CASE("a ring that does not exist is refused") {
    TemporaryDirectory directory;
    CHECK(run_in_child([&] {
              inquest_box_claim(directory.path().c_str(), nullptr);
              return inquest_box_write(INQUEST_RING_COUNT, INQUEST_KIND_STATE, 0, nullptr, nullptr) == -EINVAL
                         ? 0
                         : 1;
          }) == 0);
}
