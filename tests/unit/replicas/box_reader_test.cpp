#include "spank/replicas/box_reader.h"

#include <fcntl.h>

#include "spank/harvest/unique_fd.h"
#include "spank/replicas/text_hash.h"
#include "tests/unit/catch.h"
#include "tests/unit/replicas/box_builder.h"

using namespace inquest::replicas;
using inquest::harvest::UniqueFd;
using inquest::test::BoxBuilder;
using inquest::test::parameters_after;

namespace {

/* A box on disk and a reader that has it open. */
struct Scene {
    std::vector<ReplicaRecord> read() {
        box.write_into(directory.path());
        const auto path = directory.path() / ("box-" + identity_text(box.process()) + ".ibb");
        const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        std::vector<ReplicaRecord> records;
        reader.read(file.get(), box.live(), records);
        return records;
    }

    std::vector<ReplicaRecord> read_all() {
        std::vector<ReplicaRecord> all;
        for (int turn = 0; turn < 1000 && reader.has_unread(box.live()); turn++)
            for (ReplicaRecord& record : read())
                all.push_back(std::move(record));
        return all;
    }

    inquest::test::TemporaryDirectory directory;
    BoxBuilder box{{815, 4711}, 3, 4};
    BoxReader reader;
};

const StateDigest& digest_of(const ReplicaRecord& record) {
    return std::get<StateDigest>(record.what);
}

}  // namespace

TEST_CASE("each record is read once, with what the box says about its rank") {
    Scene scene;
    scene.box.environment("MASTER_ADDR", "n1").environment("HOME", "/");
    scene.box.digest(parameters_after(1, 7, 4), "DistributedDataParallel");
    const auto records = scene.read();
    REQUIRE(records.size() == 1);
    CHECK(records[0].source.rank == 3);
    CHECK(records[0].source.world_size == 4);
    CHECK(records[0].source.born_wall_ns == 1000);
    CHECK(records[0].source.world != 0);
    CHECK(digest_of(records[0]).ranks == "0-3");
    CHECK(digest_of(records[0]).promise == text_hash({"DistributedDataParallel"}));
    CHECK(digest_of(records[0]).digest == Digest{7, ~7ULL});
    CHECK_FALSE(scene.reader.has_unread(scene.box.live()));
    StateDigest elsewhere = parameters_after(3, 8, 4);
    elsewhere.place = 99;
    scene.box.digest(parameters_after(2, 8, 4), "").digest(elsewhere, "");
    const auto more = scene.read();
    REQUIRE(more.size() == 2);
    CHECK(digest_of(more[0]).place == digest_of(records[0]).place);
    CHECK(digest_of(more[1]).place != digest_of(records[0]).place);
    CHECK(digest_of(more[0]).step == 2);
    CHECK(digest_of(more[0]).promise == 0);
    CHECK(scene.read().empty());
}

TEST_CASE("jobs that meet at different places are different worlds") {
    Scene one;
    Scene other;
    one.box.environment("MASTER_PORT", "1").digest(parameters_after(1, 7, 4), "");
    other.box.environment("MASTER_PORT", "2").digest(parameters_after(1, 7, 4), "");
    CHECK(one.read()[0].source.world != other.read()[0].source.world);
}

TEST_CASE("how often a launcher on one node started its ranks again parts no world") {
    Scene one;
    Scene other;
    one.box.environment("TORCHELASTIC_RUN_ID", "17").environment("TORCHELASTIC_RESTART_COUNT", "0");
    other.box.environment("TORCHELASTIC_RUN_ID", "17").environment("TORCHELASTIC_RESTART_COUNT", "1");
    one.box.digest(parameters_after(1, 7, 4), "");
    other.box.digest(parameters_after(1, 7, 4), "");
    CHECK(one.read()[0].source.world == other.read()[0].source.world);
}

TEST_CASE("a process that is no rank yet is read when it has become one") {
    Scene scene;
    scene.box.digest(parameters_after(1, 7, 4), "");
    scene.box.live().rank = -1;
    CHECK(scene.read().empty());
    scene.box.live().rank = 0;
    CHECK(scene.read().size() == 1);
}

TEST_CASE("both rings are read in the order of writing") {
    Scene scene;
    scene.box.samples({1, 8, 0, {11}});
    scene.box.sampler({1, 0, 4, 3, 2, 8});
    scene.box.samples({1, 16, 0, {12}});
    const auto records = scene.read();
    REQUIRE(records.size() == 3);
    CHECK(std::holds_alternative<SampleHashes>(records[0].what));
    CHECK(std::get<SamplerPass>(records[1].what).replicas == 4);
    CHECK(std::get<SampleHashes>(records[2].what).hashes[0] == 12);
}

TEST_CASE("also much at once is read in the order of writing") {
    Scene scene;
    constexpr size_t kBefore = BoxRing::kMaxBatch + 50;
    for (size_t at = 0; at < kBefore; at++)
        scene.box.samples({1, 8, 0, {11}});
    scene.box.sampler({1, 1, 4, 3, 2, 8});
    for (size_t at = 0; at < BoxRing::kMaxBatch; at++)
        scene.box.samples({1, 16, 0, {12}});
    scene.box.sampler({1, 2, 4, 3, 2, 8});
    const auto records = scene.read_all();
    REQUIRE(records.size() == kBefore + BoxRing::kMaxBatch + 2);
    CHECK(std::holds_alternative<SamplerPass>(records[kBefore].what));
    CHECK(std::holds_alternative<SamplerPass>(records.back().what));
}

TEST_CASE("a read takes a bounded number of records, and all come in the end") {
    Scene scene;
    for (int step = 1; step <= 1000; step++)
        scene.box.digest(parameters_after(step, 7, 4), "");
    CHECK(scene.read().size() == BoxRing::kMaxBatch);
    CHECK(scene.read_all().size() == 1000 - BoxRing::kMaxBatch);
}

TEST_CASE("records that were overwritten are left out") {
    Scene scene;
    for (int step = 1; step <= INQUEST_BOX_DIGESTS_CAPACITY + 5; step++)
        scene.box.digest(parameters_after(step, 7, 4), "");
    const auto records = scene.read_all();
    REQUIRE(records.size() == INQUEST_BOX_DIGESTS_CAPACITY);
    CHECK(digest_of(records[0]).step == 6);
}

TEST_CASE("a record that is being written is waited for, and given up when its writer is gone") {
    Scene scene;
    inquest_box_record busy{};
    busy.begin_mark = INQUEST_BOX_MARK_BUSY;
    scene.box.live().ring_head[INQUEST_RING_DIGESTS] = 1;
    scene.box.set_record(INQUEST_RING_DIGESTS, 0, busy);
    scene.box.digest(parameters_after(2, 7, 4), "");
    CHECK(scene.read().empty());
    CHECK(scene.read_all().size() == 1);
}

TEST_CASE("buffers are left out where each model's wrapper broadcasts them, and only there") {
    StateDigest buffers = parameters_after(1, 7, 4);
    buffers.part = INQUEST_PART_BUFFERS;
    Scene broadcasts;
    broadcasts.box.model_flags(true).digest(buffers, "DistributedDataParallel");
    CHECK(broadcasts.read().empty());
    Scene one_does_not;
    one_does_not.box.model_flags(true).model_flags(false).digest(buffers, "DistributedDataParallel");
    CHECK(one_does_not.read().size() == 1);
    Scene has_no_wrapper;
    has_no_wrapper.box.digest(buffers, "");
    CHECK(has_no_wrapper.read().size() == 1);
}

TEST_CASE("digests wait for the events that tell what they mean") {
    Scene scene;
    for (size_t at = 0; at < BoxRing::kMaxBatch; at++)
        scene.box.environment("A", "b");
    scene.box.environment("MASTER_PORT", "1").digest(parameters_after(1, 7, 4), "");
    CHECK(scene.read().empty());
    const auto records = scene.read();
    REQUIRE(records.size() == 1);
    CHECK(records[0].source.world != 0);
}

TEST_CASE("hostile boxes give nothing and do no harm") {
    for (int kind = 0; kind < 8; kind++) {
        Scene scene;
        scene.box.digest(parameters_after(1, 7, 4), "");
        inquest_box_header header = scene.box.header();
        inquest_box_area& ring = header.ring[INQUEST_RING_DIGESTS];
        if (kind == 0) header.version = 9;
        if (kind == 1) ring.capacity = UINT32_MAX;
        if (kind == 2) ring.element_bytes = 1;
        if (kind == 3) ring.offset_bytes = UINT64_MAX - 8;
        if (kind == 4) header.strings.offset_bytes = UINT64_MAX;
        if (kind == 5) header.strings.capacity = 0;
        if (kind == 6) ring.capacity = 0;
        if (kind == 7) ring.offset_bytes = 1ULL << 31U; /* beyond the end of the file */
        scene.box.set_header(header);
        CHECK(scene.read_all().empty());
    }
    Scene scene;
    scene.box.live().ring_head[INQUEST_RING_DIGESTS] = UINT64_MAX;
    CHECK(scene.read().empty());
}

TEST_CASE("records with values out of range are left out") {
    for (int kind = 0; kind < 6; kind++) {
        Scene scene;
        StateDigest digest = parameters_after(1, 7, 4);
        if (kind == 0) digest.site = 0;
        if (kind == 1) digest.site = 99;
        if (kind == 2) digest.part = 77;
        if (kind == 3) digest.step = -1;
        if (kind == 4) digest.ranks = "";
        if (kind == 5) scene.box.samples({1, 8, INQUEST_SAMPLES_RECORDS, {11}});
        if (kind < 5) scene.box.digest(digest, "");
        CHECK(scene.read().empty());
    }
}
