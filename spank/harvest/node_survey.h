/* What the node.json files of a step say about its nodes, for the lead and the epilog. */
#ifndef INQUEST_SPANK_HARVEST_NODE_SURVEY_H
#define INQUEST_SPANK_HARVEST_NODE_SURVEY_H

#include <cstdint>
#include <map>
#include <string>

#include "spank/harvest/step_description.h"

namespace inquest::harvest {

struct NodeState {
    uint64_t inode = 0;             /* a node.json that is replaced by rename is another file */
    int64_t written_ns = 0;         /* modification time */
    uint64_t collected_wall_ns = 0; /* of that node */
    bool step_ended = false;
    uint64_t tasks = 0;
    bool all_tasks_succeeded = false; /* every task listed has exit status 0 */
    bool any_task_failed = false;
    bool noticed_divergence = false;
    bool cancelled_for_divergence = false;
    bool stalled = false;
    bool noticed_else = false; /* a stall or a death */
};

class NodeSurvey {
 public:
    /* Reads the files that are new since the last time. */
    void update(const StepDescription& step);
    /* The same for the node that the description is of. */
    void update_own(const StepDescription& step);

    /* Whether each of the step's nodes has written node.json at or after this time of the file system. */
    [[nodiscard]] bool all_newer_than(const StepDescription& step, int64_t time_ns) const;
    /* The same, at or before this time. */
    [[nodiscard]] bool all_written_by(const StepDescription& step, int64_t time_ns) const;
    /* Whether the description's own node has written evidence, at or after this time of its clock. */
    [[nodiscard]] bool own_written_since(const StepDescription& step, uint64_t since_wall_ns) const;
    /* Whether the description's own node has written its final evidence, at or after this time of its clock:
     * an earlier run of a requeued job may have left evidence of the same name. It is not final when it lacks
     * exits of which the description knows: a worker may have missed a message that the journal holds. */
    [[nodiscard]] bool own_ended(const StepDescription& step, uint64_t since_wall_ns) const;
    [[nodiscard]] bool all_ended(const StepDescription& step) const;
    /* Whether each of the step's tasks on each node is known to have ended with status 0. */
    [[nodiscard]] bool all_succeeded(const StepDescription& step) const;
    /* Whether all the evidence that there is, perhaps none, is final, and each task of it ended with status
     * 0. */
    [[nodiscard]] bool none_failed() const;
    [[nodiscard]] bool any_failed() const;
    [[nodiscard]] bool any_stalled() const;
    /* Whether a node has noticed replicas that differ, and no node anything else. */
    [[nodiscard]] bool noticed_divergence() const;
    [[nodiscard]] bool noticed_only_divergence() const;
    /* Whether Inquest cancelled the job because of them. */
    [[nodiscard]] bool cancelled_for_divergence() const;

 private:
    void read_node(int evidence_fd, const std::string& node);

    std::map<std::string, NodeState> nodes_;
};

}  // namespace inquest::harvest

#endif
