#include "tests/unit/analyzer/detect/rule_cases_divergence.h"

#include "tests/unit/analyzer/detect/rule_cases.h"

namespace inquest::test {
namespace {

const std::set<inquest_part> kBoth = {INQUEST_PART_PARAMETERS, INQUEST_PART_GRADIENTS};
const std::set<inquest_part> kWeights = {INQUEST_PART_PARAMETERS};

// No two ranks agree.
ReplicaBuilder::Change all_differ(std::set<inquest_part> parts, int64_t from) {
    return [=](int rank, int64_t step, inquest_part part, ReplicaBuilder::State& state) {
        if (step < from || parts.count(part) == 0) return;
        state.value += static_cast<uint64_t>(rank) * 7;
        state.odd = all_tensors();
        state.distance = 0.1 * rank;
    };
}

model::Timeline repaired(ReplicaBuilder build, void (*change)(ReplicaBuilder&)) {
    change(build);
    return build.timeline();
}

void equal_counts(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank)
        build.step(rank, 4, 1);
}

void through_the_wrapper(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank)
        build.step(rank, 1, 1).wrapped = 1;
}

void with_a_load(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank)
        build.digest(rank, INQUEST_PART_PARAMETERS, 0, {}, INQUEST_SITE_LOADED);
}

void with_an_optimizers_load(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank)
        build.digest(rank, INQUEST_PART_OPTIMIZER, 0, {}, INQUEST_SITE_LOADED);
}

void with_a_skip(ReplicaBuilder& build) {
    build.of(1).replica.skips.push_back({3, 2.0, at(11), {}});
}

void with_broadcast(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank) {
        model::ModelFlags flags;
        flags.broadcast_buffers = true;
        build.of(rank).replica.flags.push_back(flags);
    }
}

void fails_later(ReplicaBuilder& build) {
    build.of(0).end.reset();
    build.timeline().nodes.front().tasks.clear();
    build.build().raises(0, "KeyError", "'x'", 12, 501);
}

model::Timeline loaded_with_equal_seeds() {
    ReplicaBuilder build = other_start(3, kDdp, false);
    with_a_load(build);
    return build.timeline();
}

model::Timeline settings_differ() {
    return ReplicaBuilder(3, kDdp)
        .train({1, 2, 4}, differs_from(1, 4, {INQUEST_PART_PARAMETERS, INQUEST_PART_HYPERPARAMETERS}, {0}))
        .timeline();
}

// With a gap between the checkpoints the difference is seen in the weights alone.
ReplicaBuilder uneven_between_checkpoints() {
    ReplicaBuilder build(3, kDdp);
    build.train({1, 2, 4, 8}, differs_from(1, 8, kWeights, all_tensors()));
    for (int rank = 0; rank < 3; ++rank)
        build.step(rank, 6, rank == 1 ? 1 : 2);
    return build;
}

void equal_counts_between(ReplicaBuilder& build) {
    for (int rank = 0; rank < build.world(); ++rank)
        build.step(rank, 6, 2);
}

}  // namespace

ReplicaBuilder uneven_counts(int world, const std::string& promise) {
    ReplicaBuilder build(world, promise);
    build.train({1, 2, 4, 8}, differs_from(1, 4, kBoth, all_tensors()));
    for (int rank = 0; rank < world; ++rank)
        build.step(rank, 4, rank == 1 ? 3 : 2);
    return build;
}

ReplicaBuilder all_without_reduction(int world) {
    ReplicaBuilder build(world, kDdp);
    build.train({1, 2}, all_differ(kBoth, 1));
    for (int rank = 0; rank < world; ++rank)
        build.step(rank, 1, 2).unsynced = 3;
    return build;
}

ReplicaBuilder bypassed(int world, bool gradients_differ) {
    ReplicaBuilder build(world, kDdp);
    build.train({1, 2}, all_differ(gradients_differ ? kBoth : kWeights, 1));
    for (int rank = 0; rank < world; ++rank) {
        build.step(rank, 1, 1).wrapped = 0;
        build.step(rank, 1, 1).bare = 1;
    }
    return build;
}

ReplicaBuilder other_rounding(int world, const std::string& promise) {
    ReplicaBuilder build(world, promise);
    return build.train({1, 2, 4, 8}, differs_from(1, 4, kBoth, all_tensors(), 16, 1e-6));
}

ReplicaBuilder other_update(int world, double distance) {
    ReplicaBuilder build(world, kDdp);
    return build.train({1, 2, 4, 8}, differs_from(1, 8, kWeights, all_tensors(), 16, distance));
}

ReplicaBuilder flipped_bit(int world, const std::string& promise) {
    ReplicaBuilder build(world, promise);
    return build.train({1, 2, 4, 8}, differs_from(1, 4, kWeights, {3}, 1));
}

ReplicaBuilder flipped_gradient(int world) {
    ReplicaBuilder build(world, kDdp);
    return build.train({1, 2, 4, 8}, differs_from(1, 4, kBoth, {3}, 1));
}

ReplicaBuilder other_start(int world, const std::string& promise, bool seeds_differ) {
    ReplicaBuilder build(world, promise);
    build.train({1, 2}, differs_from(1, 0, kWeights, all_tensors()));
    for (int rank = 0; rank < world; ++rank)
        build.seed(rank, seeds_differ && rank == 1 ? 43 : 42);
    return build;
}

ReplicaBuilder other_statistics(int world, const std::string& promise) {
    ReplicaBuilder build(world, promise);
    build.train({1, 2});
    for (int rank = 0; rank < world; ++rank) {
        for (const int64_t step : {1, 2}) {
            ReplicaBuilder::State state;
            state.value += static_cast<uint64_t>(rank);
            state.odd = all_tensors();
            build.digest(rank, INQUEST_PART_BUFFERS, step, state);
        }
    }
    return build;
}

ReplicaBuilder other_samplers(int world, int64_t odd_seed, bool overlap) {
    ReplicaBuilder build(world, kDdp);
    build.train({1, 2});
    for (int rank = 0; rank < world; ++rank) {
        std::vector<uint64_t> hashes;
        for (uint64_t sample = 0; sample < 30; ++sample)
            hashes.push_back(1 + sample + (overlap ? 20U : 30U) * static_cast<uint64_t>(rank));
        build.sampler(rank, rank == 1 ? odd_seed : 7, rank, hashes);
    }
    return build;
}

RuleCases cases_of_divergence() {
    const auto of = [](ReplicaBuilder build) { return build.timeline(); };
    return {
        {"asymmetric-gradient-accumulation/gradients-differ",
         {of(uneven_counts(3, kDdp)), repaired(uneven_counts(3, kDdp), equal_counts)}},
        {"asymmetric-gradient-accumulation/on-the-way",
         {of(uneven_between_checkpoints()), repaired(uneven_between_checkpoints(), equal_counts_between)}},
        {"data-parallel-bypassed/bare-forward",
         {of(bypassed(3, true)), repaired(bypassed(3, true), through_the_wrapper)}},
        {"nondeterministic-ops/gradients-differ-slightly",
         {of(other_rounding(3, kDdp)), repaired(other_rounding(3, kDdp), with_a_skip)}},
        {"nondeterministic-ops/update-differs-slightly",
         {of(other_update(3, 1e-6)), of(other_update(3, 0.1))}},
        {"seed-not-synchronised/seeds-differ",
         {of(other_start(3, kDdp, true)), of(other_start(3, kDdp, false))}},
        {"seed-not-synchronised/weights-differ",
         {of(other_start(3, kDdp, false)), loaded_with_equal_seeds()}},
        {"seed-not-synchronised/after-a-load",
         {repaired(other_start(3, kDdp, true), with_a_load),
          repaired(other_start(3, kDdp, true), with_an_optimizers_load)}},
        {"silent-data-corruption/isolated-words", {of(flipped_bit(3, kDdp)), of(flipped_bit(2, kDdp))}},
        {"silent-data-corruption/isolated-words-tie", {of(flipped_bit(2, kDdp)), of(flipped_bit(3, kDdp))}},
        {"silent-data-corruption/isolated-gradient-words",
         {of(flipped_gradient(3)), repaired(flipped_gradient(3), with_a_skip)}},
        {"batchnorm-stats-unsynchronised/promised",
         {of(other_statistics(3, kDdp)), repaired(other_statistics(3, kDdp), with_broadcast)}},
        {"batchnorm-stats-unsynchronised/by-hand",
         {of(other_statistics(3, "")), of(other_statistics(3, kDdp))}},
        {"sampler-seed-differs/samples-overlap-by-seed",
         {of(other_samplers(3, 8, true)), of(other_samplers(3, 8, false))}},
        {"sampler-seed-differs/samplers-differ",
         {of(other_samplers(3, 8, false)), of(other_samplers(3, 7, false))}},
        {"sampler-seed-differs/samples-overlap",
         {of(other_samplers(3, 7, true)), of(other_samplers(3, 7, false))}},
        {"unknown/replicas-differ", {settings_differ(), repaired(other_update(3, 0.1), fails_later)}},
    };
}

}  // namespace inquest::test
