// Replicas that part: cause, ranks, step and tensors, with two and with four ranks, with and without a
// wrapper that promises equality; and what looks alike and is sound.
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/rule_cases_divergence.h"

using namespace inquest;
using namespace inquest::test;
using Ranks = std::vector<int>;

namespace {

struct Expected {
    std::string cause;
    Ranks of_two;
    Ranks of_four;
    int64_t first_bad = 0;
    std::optional<int64_t> last_good;
};

void check(ReplicaBuilder build, const Expected& expected) {
    const bool two = build.world() == 2;
    INFO(expected.cause << " with " << build.world() << " ranks");
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == expected.cause);
    CHECK(ranks_in(diagnosis.initiating) == (two ? expected.of_two : expected.of_four));
    CHECK(diagnosis.end == "silent");
    CHECK(diagnosis.worth_a_notice);
    REQUIRE(diagnosis.divergence);
    CHECK(diagnosis.divergence->first_bad_step == expected.first_bad);
    CHECK(diagnosis.divergence->last_good_step == expected.last_good);
    CHECK_FALSE(diagnosis.chain.empty());
}

void check_sound(ReplicaBuilder& build) {
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "healthy");
    CHECK_FALSE(diagnosis.worth_a_notice);
    CHECK_FALSE(diagnosis.divergence);
}

ReplicaBuilder::Change rank_offset(std::set<inquest_part> parts) {
    return [=](int rank, int64_t step, inquest_part part, ReplicaBuilder::State& state) {
        if (step > 0 && parts.count(part) != 0) state.value += static_cast<uint64_t>(rank) * 7;
    };
}

}  // namespace

TEST_CASE("each cause of divergence with two and with four ranks") {
    for (const int world : {2, 4}) {
        check(uneven_counts(world, kDdp), {"asymmetric-gradient-accumulation", {0, 1}, {1}, 4, 2});
        check(all_without_reduction(world), {"asymmetric-gradient-accumulation", {0, 1}, {0, 1, 2, 3}, 1, 0});
        check(bypassed(world, true), {"data-parallel-bypassed", {0, 1}, {0, 1, 2, 3}, 1, 0});
        check(other_rounding(world, kDdp), {"nondeterministic-ops", {0, 1}, {1}, 4, 2});
        check(other_update(world, 1e-6), {"nondeterministic-ops", {0, 1}, {1}, 8, 4});
        check(flipped_bit(world, kDdp), {"silent-data-corruption", {0, 1}, {1}, 4, 2});
        check(flipped_gradient(world), {"silent-data-corruption", {0, 1}, {1}, 4, 2});
        check(other_start(world, kDdp, true), {"seed-not-synchronised", {0, 1}, {1}, 0, std::nullopt});
        check(other_statistics(world, kDdp),
              {"batchnorm-stats-unsynchronised", {0, 1}, {0, 1, 2, 3}, 1, std::nullopt});
    }
}

TEST_CASE("without a promise the ranks' own agreement counts") {
    for (const int world : {2, 4}) {
        check(uneven_counts(world, ""), {"asymmetric-gradient-accumulation", {0, 1}, {1}, 4, 2});
        check(other_rounding(world, ""), {"nondeterministic-ops", {0, 1}, {1}, 4, 2});
        check(flipped_bit(world, ""), {"silent-data-corruption", {0, 1}, {1}, 4, 2});
        check(other_start(world, "", true), {"seed-not-synchronised", {0, 1}, {1}, 0, std::nullopt});
    }
}

TEST_CASE("ranks that read overlapping samples of a sharded data set") {
    for (const int world : {2, 4}) {
        const auto diagnosis = diagnosis_of(other_samplers(world, 8, true).timeline());
        CHECK(diagnosis.cause == "sampler-seed-differs");
        CHECK(ranks_in(diagnosis.initiating) == (world == 2 ? Ranks{0, 1} : Ranks{1}));
        CHECK(diagnosis.confidence == model::Confidence::kCertain);
        REQUIRE(diagnosis.divergence);
        CHECK_FALSE(diagnosis.divergence->first_bad_step);
    }
}

TEST_CASE("a tie is called a tie, and the tensors are named") {
    const auto two = diagnosis_of(flipped_bit(2, kDdp).timeline());
    CHECK(two.divergence->tie);
    CHECK(two.confidence == model::Confidence::kLikely);
    const auto four = diagnosis_of(flipped_bit(4, kDdp).timeline());
    CHECK_FALSE(four.divergence->tie);
    CHECK(four.confidence == model::Confidence::kCertain);
    CHECK(four.divergence->tensors == std::vector<std::string>{"layer3.weight"});
    CHECK(four.divergence->ranks == Ranks{1});
    CHECK(four.initiating.front().place.line == 62);
}

TEST_CASE("a failure comes before the divergence of its job, unless it is the end of all ranks at once") {
    ReplicaBuilder failed = flipped_bit(3, kDdp);
    failed.of(0).end.reset();
    failed.timeline().nodes.front().tasks.clear();
    failed.build().raises(0, "KeyError", "'x'", 12, 501);
    const auto first = diagnosis_of(failed.timeline());
    CHECK(first.cause == "rank-exception");
    CHECK(first.contributing.size() == 1);
    CHECK(first.divergence);
    ReplicaBuilder cancelled = flipped_bit(3, kDdp);
    cancelled.timeline().nodes.front().tasks.clear();
    for (int rank = 0; rank < 3; ++rank)
        cancelled.build().ends(rank, SIGTERM, 500 + 0.001 * rank);
    CHECK(diagnosis_of(cancelled.timeline()).cause == "silent-data-corruption");
}

TEST_CASE("a job that still runs is told of its divergence") {
    ReplicaBuilder build = flipped_bit(3, kDdp);
    build.timeline().nodes.front().tasks.clear();
    for (int rank = 0; rank < 3; ++rank)
        build.of(rank).end.reset();
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "silent-data-corruption");
    CHECK(diagnosis.worth_a_notice);
}

TEST_CASE("equal replicas are healthy") {
    for (const int world : {2, 4}) {
        ReplicaBuilder build(world, kDdp);
        check_sound(build.train({1, 2, 4, 8}));
    }
}

TEST_CASE("losses and gradient norms alone are no verdict") {
    ReplicaBuilder build(4, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < 4; ++rank) {
        build.losses(rank, rank == 2 ? 5.0 : 1.0);
        build.of(rank).replica.gradient_norms.push_back(
            {{1, 1, INQUEST_SITE_STEP}, rank < 2 ? 1.0 : 9.0, {}});
    }
    check_sound(build);
}

TEST_CASE("two optimizers are never compared with each other") {
    ReplicaBuilder build(3, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < 3; ++rank)
        build.digest(rank, INQUEST_PART_PARAMETERS, 1, {77, {}, 16, 0}, INQUEST_SITE_STEP, 2);
    check_sound(build);
}

TEST_CASE("an ordinal that names another model on one rank is not compared") {
    ReplicaBuilder build(4, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < 4; ++rank) {
        ReplicaBuilder::State state;
        state.value = rank == 0 ? 78 : 77;
        state.extra = rank == 0 ? 2 : 0;
        build.digest(rank, INQUEST_PART_PARAMETERS, 1, state, INQUEST_SITE_STEP, 2);
    }
    check_sound(build);
}

TEST_CASE("a rank that trains a model of its own for a while shifts all later ordinals") {
    ReplicaBuilder build(4, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < 4; ++rank) {
        for (const int64_t optimizer : {2, 3}) {
            ReplicaBuilder::State state;
            state.value = 70 + static_cast<uint64_t>(optimizer) - (rank == 0 ? 1 : 0);
            build.digest(rank, INQUEST_PART_PARAMETERS, 1, state, INQUEST_SITE_STEP, optimizer);
            if (rank == 0 && optimizer == 2) build.of(rank).replica.digests.back().promise.clear();
        }
    }
    check_sound(build);
}

TEST_CASE("without a promise, a model of one rank's own is known by the line of its step") {
    const auto differs_on = [](int64_t line_of_odd) {
        ReplicaBuilder build(4, "");
        build.train({1, 2}, differs_from(1, 1, {INQUEST_PART_PARAMETERS}, {0}));
        for (auto& digest : build.of(1).replica.digests)
            digest.place.line = line_of_odd;
        return build;
    };
    const auto with_one_more = [](ReplicaBuilder build) {
        build.digest(1, INQUEST_PART_PARAMETERS, 1, {}, INQUEST_SITE_STEP, 2);
        return build;
    };
    ReplicaBuilder elsewhere = with_one_more(differs_on(99));
    check_sound(elsewhere);
    CHECK(diagnosis_of(with_one_more(differs_on(62)).timeline()).cause != "healthy");
    CHECK(diagnosis_of(differs_on(99).timeline()).cause != "healthy");  // both sides of an if call it
}

TEST_CASE("an average that rank 0 exports differs before a save and at the end only") {
    ReplicaBuilder build(3, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < 3; ++rank) {
        for (const inquest_site site : {INQUEST_SITE_SAVE, INQUEST_SITE_END})
            build.digest(rank, INQUEST_PART_PARAMETERS, 2, {rank == 0 ? 9U : 8U, {}, 16, 0}, site);
    }
    check_sound(build);
}

TEST_CASE("local steps with a periodic average and models of their own are meant") {
    ReplicaBuilder local(4, "");
    local.train({1, 2, 4, 8}, rank_offset({INQUEST_PART_PARAMETERS, INQUEST_PART_GRADIENTS}));
    check_sound(local);
    ReplicaBuilder averaged(4, "");
    averaged.train({1, 2, 4, 8}, [](int rank, int64_t step, inquest_part part, ReplicaBuilder::State& state) {
        const bool local_step = step == 2 || step == 8;
        if (local_step && part != INQUEST_PART_HYPERPARAMETERS) state.value += static_cast<uint64_t>(rank);
    });
    averaged.digest(0, INQUEST_PART_PARAMETERS, 16, {}).digest(1, INQUEST_PART_PARAMETERS, 16, {});
    averaged.digest(2, INQUEST_PART_PARAMETERS, 16, {}).digest(3, INQUEST_PART_PARAMETERS, 16, {});
    check_sound(averaged);
}

TEST_CASE("runs that share a launcher and exchange nothing are strangers") {
    ReplicaBuilder build = flipped_bit(4, "");
    for (int rank = 0; rank < 4; ++rank)
        build.of(rank).collectives.clear();
    check_sound(build);
}

TEST_CASE("ranks that compare at different steps meet at common ones") {
    ReplicaBuilder build(4, kDdp);
    build.train({1, 2, 4, 8}, differs_from(1, 6, {INQUEST_PART_PARAMETERS}, {3}, 1));
    for (const int rank : {0, 2})
        build.digest(rank, INQUEST_PART_PARAMETERS, 6, {});
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(diagnosis.divergence->first_bad_step == 8);
    CHECK(diagnosis.divergence->last_good_step == 4);
}

TEST_CASE("statistics between two broadcasts, and groups that read the same shard on purpose, are sound") {
    ReplicaBuilder statistics = other_statistics(4, kDdp);
    for (int rank = 0; rank < 4; ++rank) {
        model::ModelFlags flags;
        flags.broadcast_buffers = true;
        statistics.of(rank).replica.flags.push_back(flags);
    }
    check_sound(statistics);
    ReplicaBuilder tensor_parallel = other_samplers(4, 7, true);
    for (int rank = 0; rank < 4; ++rank) {
        auto& pass = tensor_parallel.of(rank).replica.samplers.front();
        pass.replicas = 2;
        pass.replica = rank / 2;
    }
    check_sound(tensor_parallel);
}

TEST_CASE("a last batch that is filled up and samples with equal contents are no overlap") {
    ReplicaBuilder padded(4, kDdp);
    padded.train({1});
    for (int rank = 0; rank < 4; ++rank) {
        std::vector<uint64_t> hashes;
        for (uint64_t sample = 0; sample < 20; ++sample)
            hashes.push_back(1 + sample + 20 * static_cast<uint64_t>(rank));
        if (rank == 3) hashes.back() = 1;
        padded.sampler(rank, 7, rank, hashes);
        padded.of(rank).replica.samplers.front().dataset = 79;
    }
    check_sound(padded);
    ReplicaBuilder alike(4, kDdp);
    alike.train({1});
    for (int rank = 0; rank < 4; ++rank) {
        alike.sampler(rank, 7, rank, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
        alike.of(rank).replica.sketches.front().read = 500;
    }
    check_sound(alike);
}

TEST_CASE("what a scaler skipped on one rank is not called accumulation") {
    ReplicaBuilder build = uneven_counts(4, kDdp);
    build.of(1).replica.skips.push_back({3, 2.0, at(11), {}});
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.family == "weight-divergence");  // so much is known
    CHECK(diagnosis.end == "silent");
    CHECK(diagnosis.worth_a_notice);
    CHECK(diagnosis.missing_fact);
}

TEST_CASE("an operation that strict mode refuses is explained") {
    TimelineBuilder build(2);
    for (const int rank : {0, 1}) {
        build.raises(rank, "RuntimeError",
                     "cumsum_cuda_kernel does not have a deterministic implementation, but you set "
                     "'torch.use_deterministic_algorithms(True)'.",
                     44, 2 + 0.01 * rank);
    }
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "rank-exception");
    CHECK(ranks_in(diagnosis.initiating) == Ranks{0, 1});
    CHECK(diagnosis.summary.find("--inquest-deterministic=warn") != std::string::npos);
}
