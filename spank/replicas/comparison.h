/* Tells the first real differences between the ranks of a step. Pure; no clock, no I/O; memory is bounded.
 *
 * Not thread safe. Records of one rank have to come in the order in which it wrote them; the same record
 * again does no harm. */
#ifndef INQUEST_SPANK_REPLICAS_COMPARISON_H
#define INQUEST_SPANK_REPLICAS_COMPARISON_H

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "spank/replicas/ordinals.h"
#include "spank/replicas/replica_group.h"
#include "spank/replicas/replica_record.h"
#include "spank/replicas/sample_overlap.h"

namespace inquest::replicas {

struct Difference {
    enum class Kind { state, samples };
    Kind kind = Kind::state;
    uint64_t ident = 0; /* of state: ordinal of the optimizer; of samples: of the loader */
    std::string ranks;  /* of state: the group */
    uint32_t part = 0;  /* of state */
    Moment moment;      /* of state */
};

class Comparison {
 public:
    void add(const ReplicaRecord& record);

    /* Nothing will come any more: what is there is compared, also where ranks are missing. */
    void finish();

    /* The next difference; each group, part and loader is told once. */
    std::optional<Difference> take_difference();

 private:
    struct World {
        std::map<uint32_t, uint64_t> born_wall_ns; /* by rank */
        uint64_t ended_wall_ns = 0; /* processes that were born by then belong to an earlier start */
        int starts = 1;
        std::map<GroupKey, ReplicaGroup> groups;
        std::multimap<uint64_t, Difference> held; /* by ordinal, which may name other models on some ranks */
        bool must_settle = false;                 /* something is new that may decide about them */
        SampleOverlap samples;
        std::map<uint64_t, bool> overlapping_loaders;
    };

    World* world_of(const Source& source);
    bool belongs(World& world, const Source& source);
    void start_again(World& world, const Source& source);
    void add_state(World& world, uint32_t rank, const StateDigest& digest);
    void add_samples(World& world, const Source& source, const SampleHashes& piece);
    ReplicaGroup* group_of(World& world, const StateDigest& digest);
    static void judge(World& world, const GroupKey& key, ReplicaGroup& group, bool all);
    void settle(World& world);

    std::map<uint64_t, World> worlds_;
    std::deque<Difference> differences_;
    size_t group_ranks_ = 0; /* of all groups together */
};

}  // namespace inquest::replicas

#endif
