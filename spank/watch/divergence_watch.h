/* The watch over a step's replicas on one node: records of the node's ranks in, real differences out.
 *
 * What a node's ranks can settle among themselves it compares itself; what concerns ranks of other nodes the
 * lead compares, which reads it from the other nodes' files. Single threaded; all calls return after a few
 * file operations, of many nodes' files the lead reads some at each tick, and only leave() may
 * wait for two seconds. */
#ifndef INQUEST_SPANK_WATCH_DIVERGENCE_WATCH_H
#define INQUEST_SPANK_WATCH_DIVERGENCE_WATCH_H

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "spank/harvest/harvest_system.h"
#include "spank/harvest/step_description.h"
#include "spank/replicas/comparison.h"
#include "spank/replicas/exchange_file.h"

namespace inquest::watch {

class DivergenceWatch {
 public:
    /* Both references have to outlive the watch. */
    DivergenceWatch(const harvest::StepDescription& step, const harvest::HarvestSystem& system)
        : step_(step), system_(system) {}

    /* What the ranks of this node have reported since the last call. */
    void take(const std::vector<replicas::ReplicaRecord>& records);

    void tick();

    /* The step has ended on this node, with all tasks' status 0: what only some ranks have reported is
     * compared too, at once or, where other nodes may still report, when those have ended. */
    void end();

    /* The job ends: takes what is still to be had and leaves no file of this node behind. */
    void leave();

    /* True once for each difference that is found. */
    bool take_difference() { return comparison_.take_difference().has_value(); }

 private:
    [[nodiscard]] bool is_lead() const { return step_.node_index == 0; }
    void take_one(const replicas::ReplicaRecord& record);
    [[nodiscard]] bool concerns_others(const replicas::ReplicaRecord& record) const;
    [[nodiscard]] bool is_due() const;
    void read_others(uint64_t for_ns);
    void finish();
    void wait_for_others(uint64_t deadline_mono_ns);

    const harvest::StepDescription& step_;
    const harvest::HarvestSystem& system_;
    replicas::Comparison comparison_;
    replicas::ExchangeWriter writer_;
    replicas::ExchangeReader reader_;
    std::set<std::pair<uint64_t, uint32_t>> own_ranks_; /* world and rank */
    uint64_t exchanged_mono_ns_ = 0;                    /* the begin of it */
    bool is_reading_ = false;                           /* not all files have had their turn */
    uint64_t read_for_ns_ = 0;                          /* in the current turn, or the last */
    bool ended_ = false;
    bool finished_ = false;
};

}  // namespace inquest::watch

#endif
