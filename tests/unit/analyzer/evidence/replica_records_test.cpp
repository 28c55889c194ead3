// The digests ring: what a rank says about the state that it trains.
#include <bit>

#include "analyzer/evidence/black_box_reader.h"
#include "tests/unit/analyzer/evidence/box_builder.h"
#include "tests/unit/catch.h"

using inquest::evidence::Notes;
using inquest::evidence::read_black_box;
using inquest::testing::BoxBuilder;

namespace {

constexpr auto kRing = INQUEST_RING_DIGESTS;

inquest::model::Rank read(const BoxBuilder& builder, size_t notes_expected) {
    Notes notes;
    const auto box = read_black_box("n1/box-815-4711.ibb", builder.bytes(), notes);
    REQUIRE(box);
    CHECK(notes.take().size() == notes_expected);
    return box->rank;
}

void digest(BoxBuilder& b, uint64_t at_ns, int64_t site, int64_t part) {
    b.record(kRing, INQUEST_KIND_DIGEST, at_ns, 1,
             {{INQUEST_TEXT_DIGEST_RANKS, "0-3"},
              {INQUEST_TEXT_DIGEST_PROMISE, "DistributedDataParallel"},
              {INQUEST_TEXT_DIGEST_OPTIMIZER, "AdamW"}},
             {{INQUEST_NUMBER_CHECKPOINT_STEP, 8},
              {INQUEST_NUMBER_CHECKPOINT_SITE, site},
              {INQUEST_NUMBER_DIGEST_PART, part},
              {INQUEST_NUMBER_DIGEST_LOW, -1},
              {INQUEST_NUMBER_DIGEST_HIGH, 5},
              {INQUEST_NUMBER_DIGEST_TENSORS, 12},
              {INQUEST_NUMBER_DIGEST_TABLE, 24}});
}

}  // namespace

TEST_CASE("digests of a checkpoint are read") {
    BoxBuilder b;
    digest(b, 7, INQUEST_SITE_STEP, INQUEST_PART_GRADIENTS);
    const auto rank = read(b, 0);
    REQUIRE(rank.replica.digests.size() == 1);
    const auto& found = rank.replica.digests.front();
    CHECK(found.at.optimizer == 1);
    CHECK(found.at.step == 8);
    CHECK(found.at.site == INQUEST_SITE_STEP);
    CHECK(found.part == INQUEST_PART_GRADIENTS);
    CHECK(found.low == UINT64_MAX);
    CHECK(found.high == 5);
    CHECK(found.tensors == 12);
    CHECK(found.table == 24);
    CHECK(found.ranks == std::vector<int>{0, 1, 2, 3});
    CHECK(found.promise == "DistributedDataParallel");
    CHECK(found.optimizer_class == "AdamW");
    CHECK(found.wall_ns == static_cast<int64_t>(BoxBuilder::kWallNs + 7));
    CHECK(found.source.position == "digests record 0");
}

TEST_CASE("impossible checkpoints are notes") {
    BoxBuilder b;
    digest(b, 1, 9, INQUEST_PART_GRADIENTS);
    digest(b, 2, INQUEST_SITE_STEP, 17);
    b.record(kRing, INQUEST_KIND_MODE, 3, UINT64_MAX, {}, {{INQUEST_NUMBER_CHECKPOINT_SITE, 1}});
    const auto rank = read(b, 2);
    CHECK(rank.replica.digests.empty());
    CHECK(rank.replica.modes.empty());
}

TEST_CASE("what accompanies digests is read") {
    BoxBuilder b;
    const BoxBuilder::Number step = {INQUEST_NUMBER_CHECKPOINT_STEP, 4};
    const BoxBuilder::Number site = {INQUEST_NUMBER_CHECKPOINT_SITE, INQUEST_SITE_STEP};
    b.record(kRing, INQUEST_KIND_GRADIENT_NORM, 1, 1, {},
             {step, site, {INQUEST_NUMBER_GRADIENT_NORM_BITS, std::bit_cast<int64_t>(2.5)}});
    b.record(kRing, INQUEST_KIND_RANDOM_STATE, 2, 1, {},
             {step, site, {INQUEST_NUMBER_RANDOM_TORCH_SEED, 42}, {INQUEST_NUMBER_RANDOM_NUMPY, 3}});
    b.record(kRing, INQUEST_KIND_MODE, 3, 1, {}, {step, site, {INQUEST_NUMBER_MODE_TRAIN, 1}});
    b.record(kRing, INQUEST_KIND_BATCH, 4, 2, {}, {{INQUEST_NUMBER_BATCH_DIGEST, 77}});
    b.record(kRing, INQUEST_KIND_SAMPLES, 5, 2, {},
             {{INQUEST_NUMBER_SAMPLES_READ, 64}, {INQUEST_NUMBER_SAMPLES_HASH, 5}, {4, 6}});
    b.record(INQUEST_RING_EVENTS, INQUEST_KIND_SAMPLER, 6, 2, {{INQUEST_TEXT_SAMPLER, "DistributedSampler"}},
             {{INQUEST_NUMBER_SAMPLER_SEED, 3}, {INQUEST_NUMBER_SAMPLER_REPLICAS, 4}});
    b.record(INQUEST_RING_EVENTS, INQUEST_KIND_MODEL_FLAGS, 7, 0, {{INQUEST_TEXT_MODEL_RANKS, "0-3"}},
             {{INQUEST_NUMBER_BATCH_NORMS, 2}, {INQUEST_NUMBER_BROADCAST_BUFFERS, 1}});
    b.record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_SCALER_SKIP, 8, 0, {}, {{INQUEST_NUMBER_STEP, 9}});
    const auto replica = read(b, 0).replica;
    REQUIRE(replica.gradient_norms.size() == 1);
    CHECK(replica.gradient_norms[0].norm == 2.5);
    REQUIRE(replica.random_states.size() == 1);
    CHECK(replica.random_states[0].torch_seed == 42);
    CHECK(replica.random_states[0].numpy == 3);
    REQUIRE(replica.modes.size() == 1);
    REQUIRE(replica.batches.size() == 1);
    CHECK(replica.batches[0].digest == 77);
    REQUIRE(replica.sketches.size() == 1);
    CHECK(replica.sketches[0].hashes == std::vector<uint64_t>{5, 6});
    REQUIRE(replica.samplers.size() == 1);
    CHECK(replica.samplers[0].seed == 3);
    CHECK(replica.samplers[0].sampler == "DistributedSampler");
    REQUIRE(replica.flags.size() == 1);
    CHECK(replica.flags[0].broadcast_buffers);
    CHECK(replica.flags[0].ranks.size() == 4);
    REQUIRE(replica.skips.size() == 1);
    CHECK(replica.skips[0].step == 9);
}

TEST_CASE("a step names its optimizer and how its gradients came about") {
    BoxBuilder b;
    b.record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_STEP, 1, 0, {{INQUEST_TEXT_FILE, "train.py"}},
             {{INQUEST_NUMBER_LINE, 61},
              {INQUEST_NUMBER_STEP, 12},
              {INQUEST_NUMBER_MICRO_BATCHES, 4},
              {INQUEST_NUMBER_STEP_OPTIMIZER, 2},
              {INQUEST_NUMBER_STEP_UNSYNCED, 7},
              {INQUEST_NUMBER_STEP_WRAPPED, 3},
              {INQUEST_NUMBER_STEP_BARE, 1},
              {INQUEST_NUMBER_OPTIMIZER_STEP, 6}});
    const auto steps = read(b, 0).steps;
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].optimizer == 2);
    CHECK(steps[0].optimizer_step == 6);
    CHECK(steps[0].unsynced == 7);
    CHECK(steps[0].wrapped == 3);
    CHECK(steps[0].bare == 1);
    CHECK(steps[0].place.line == 61);
}

TEST_CASE("a box of an earlier writer has no digests ring and nothing is wrong with it") {
    BoxBuilder b;
    b.header.ring[kRing] = {0, 0, 0};
    b.collective("all_reduce", 1, 100, 200);
    const auto rank = read(b, 0);
    CHECK(rank.collectives.size() == 1);
    CHECK(rank.replica.digests.empty());
}

TEST_CASE("what the ring has overwritten comes from an earlier copy of the box") {
    BoxBuilder b;
    digest(b, 7, INQUEST_SITE_STEP, INQUEST_PART_GRADIENTS);
    const std::string earlier = b.bytes();
    for (uint64_t at = 8; at < 8 + INQUEST_BOX_DIGESTS_CAPACITY; ++at) {
        b.record(kRing, INQUEST_KIND_SCALER_SKIP, at, 1, {}, {{INQUEST_NUMBER_STEP, int64_t(at)}});
    }
    CHECK(read(b, 0).replica.digests.empty());
    Notes notes;
    auto box = read_black_box("n1/box-815-4711.ibb", b.bytes(), notes, earlier);
    REQUIRE(box);
    CHECK(box->rank.replica.digests.size() == 1);
    CHECK(box->rank.replica.skips.size() == INQUEST_BOX_DIGESTS_CAPACITY);
    box = read_black_box("n1/box-815-4711.ibb", earlier, notes, earlier);
    CHECK(box->rank.replica.digests.size() == 1);
    b.header.pid = 816;  // of another process
    box = read_black_box("n1/box-816-4711.ibb", b.bytes(), notes, earlier);
    CHECK(box->rank.replica.digests.empty());
    CHECK(notes.take().empty());
}
