// Jobs whose replicas part, one function per reason: shared by the tests of rules and of diagnoses.
#pragma once
#include <cstdint>

#include "tests/unit/analyzer/detect/replica_builder.h"

namespace inquest::test {

inline constexpr const char* kDdp = "DistributedDataParallel";

// From `step` on, `part` of `rank` differs like this.
inline ReplicaBuilder::Change differs_from(int rank, int64_t step, std::set<inquest_part> parts,
                                           std::set<int> odd, int lanes = 16, double distance = 0.1) {
    return [=](int at_rank, int64_t at_step, inquest_part part, ReplicaBuilder::State& state) {
        if (at_rank != rank || at_step < step || parts.count(part) == 0) return;
        state.odd = odd;
        state.lanes = lanes;
        state.distance = distance;
    };
}

ReplicaBuilder uneven_counts(int world, const std::string& promise);
ReplicaBuilder all_without_reduction(int world);
ReplicaBuilder bypassed(int world, bool all_differ);
ReplicaBuilder other_rounding(int world, const std::string& promise);
ReplicaBuilder other_update(int world, double distance);
ReplicaBuilder flipped_bit(int world, const std::string& promise);
ReplicaBuilder flipped_gradient(int world);
ReplicaBuilder other_start(int world, const std::string& promise, bool seeds_differ);
ReplicaBuilder other_statistics(int world, const std::string& promise);
ReplicaBuilder other_samplers(int world, int64_t odd_seed, bool overlap);

}  // namespace inquest::test
