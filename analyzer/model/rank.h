// What one process of the step did, as read from its black box, its stacks, its flight recorder and its node.
// Passive data. All times are wall-clock nanoseconds since the epoch, converted from the process's monotonic
// clock by the clock pair of its node; 0 means unknown.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/replica.h"
#include "analyzer/model/source.h"
#include "spank/format/black_box.h"

namespace inquest::model {

struct ProcessGroup {
    std::string name;
    std::string backend;
    std::string description;
    std::vector<int> ranks;  // global ranks; empty: unknown
    int64_t timeout_ns = 0;
    WallNs wall_ns = 0;
};

struct WrappedModel {
    std::string wrapper;
    std::string model;
    int64_t parameters = 0;
    int64_t trainable = 0;
    int64_t buffers = 0;
    uint64_t parameter_hash = 0;
    Place place;
    WallNs wall_ns = 0;
};

// A Python-level call of torch.distributed.
struct CollectiveCall {
    uint64_t ident = 0;
    std::string operation;
    std::string group;
    std::string dtype;
    std::string shape;
    int64_t elements = 0;
    int64_t sequence = 0;  // per group on this rank, from 1
    uint64_t calls_hash = 0;
    int64_t peer = -1;
    int64_t step = 0;
    bool async = false;
    Place place;
    WallNs begin_wall_ns = 0;
    std::optional<WallNs> end_wall_ns;  // nullopt: still open when the box was read
    SourceRef source;
};

struct Backward {
    uint64_t ident = 0;
    int64_t step = 0;
    std::optional<double> loss;
    Place place;
    WallNs begin_wall_ns = 0;
    std::optional<WallNs> end_wall_ns;
    SourceRef source;
};

struct PhaseSpan {
    uint64_t ident = 0;
    inquest_phase phase = INQUEST_PHASE_NONE;
    std::string call;
    Place place;
    WallNs begin_wall_ns = 0;
    std::optional<WallNs> end_wall_ns;
    SourceRef source;
};

struct ExceptionSeen {
    std::string type;
    std::string message;
    std::string call;  // the torch.distributed call that raised it, if one did
    bool uncaught = false;
    bool in_collective = false;
    Place place;
    WallNs wall_ns = 0;
    SourceRef source;
};

struct OptimizerStep {
    int64_t step = 0;  // of the process, over all optimizers
    int64_t micro_batches = 0;
    WallNs wall_ns = 0;
    int64_t optimizer = 0;       // ordinal, 0: a box of an earlier writer
    int64_t optimizer_step = 0;  // completed steps of this optimizer
    uint64_t unsynced = 0;       // bit k: the k-th backward did not synchronise gradients
    int64_t wrapped = 0;         // forward passes through the data-parallel wrapper
    int64_t bare = 0;            // and beside it, in training
    Place place;
    SourceRef source;
};

// One entry of torch's flight recorder. Every field may be absent in some version (docs/formats, torch-nccl
// facts).
struct FlightEntry {
    int64_t record_id = -1;
    int64_t group_id = -1;  // pg_id: the process's own number of the group, key of FlightRecord::status
    std::string group;      // process_group[0]
    std::string group_description;
    std::string operation;  // profiling_name: "nccl:all_reduce"
    int64_t collective_sequence = -1;
    int64_t p2p_sequence = -1;
    bool is_p2p = false;
    std::string state;  // scheduled, started, completed
    bool retired = false;
    std::vector<std::vector<int64_t>> input_sizes;
    std::vector<std::string> input_dtypes;
    std::vector<std::vector<int64_t>> output_sizes;
    int64_t created_ns = 0;    // time_created_ns, wall clock
    int64_t started_ns = 0;    // time_discovered_started_ns; 0: not started or not known
    int64_t completed_ns = 0;  // time_discovered_completed_ns; 0: not completed or not known
    int64_t timeout_ns = 0;
    std::vector<Place> frames;  // innermost first; empty in the JSON form
};

struct FlightGroupStatus {
    int64_t last_enqueued = -1;
    int64_t last_started = -1;
    int64_t last_completed = -1;
};

struct FlightRecord {
    std::string version;
    std::map<std::string, std::vector<int>> group_ranks;  // pg_config: group name to global ranks
    std::map<std::string, FlightGroupStatus> status;      // pg_status, by the process's own group id
    std::vector<FlightEntry> entries;                     // in file order
    std::optional<int> rank;                              // from the file name, where it has one
    SourceRef source;
};

struct PythonStack {
    struct Thread {
        bool crashed = false;  // it got the fatal signal that made faulthandler write the stacks
        bool is_main = false;  // faulthandler's "most recent call first" block of the current/main thread
        std::vector<Place> frames;  // innermost first
    };
    std::vector<Thread> threads;
    SourceRef source;
};

// From node.json "processes": what the node saw of the process at collection time.
struct ProcessSample {
    bool alive = false;
    std::string state;
    std::optional<WallNs> gone_wall_ns;
    int64_t cpu_ns = 0;
    int64_t cpu_after_ns = 0;
    int64_t cpu_interval_ns = 0;
    int64_t bytes_written = 0;
    int64_t bytes_written_after = 0;
};

// How Slurm's task ended, from node.json "tasks", or a process below it, from what its parent recorded.
struct TaskEnd {
    int task = -1;
    int pid = 0;
    std::optional<int> wait_status;  // as wait(2) returns it
    std::optional<WallNs> exited_wall_ns;
    int64_t oom_kills = 0;
    bool was_told = false;                   // its parent had sent it a signal to end
    std::optional<SourceRef> parent_source;  // the parent's record; nullopt: from node.json
};

// What a process recorded about the end of one that it had started.
struct ChildEnd {
    int pid = 0;
    int wait_status = 0;
    bool was_told = false;
    WallNs wall_ns = 0;
    SourceRef source;
};

// One process that owns a black box, or one that is only known from a dump, a stack or a log.
struct Rank {
    std::optional<int> rank;  // global rank, nullopt: never became a rank (or not known)
    std::optional<int> world_size;
    std::optional<int> task;
    std::string node;
    int pid = 0;
    int parent_pid = 0;
    uint64_t start_time_ticks = 0;
    WallNs created_wall_ns = 0;  // its box was claimed
    std::string program;

    // live counters at collection time
    inquest_state state = INQUEST_STATE_CLAIMED;
    inquest_phase phase = INQUEST_PHASE_NONE;
    WallNs phase_since_wall_ns = 0;
    WallNs last_progress_wall_ns = 0;
    int64_t step = 0;
    int64_t micro_batches = 0;
    int64_t backward_begun = 0;
    int64_t backward_ended = 0;
    int64_t collectives_begun = 0;
    int64_t collectives_ended = 0;
    std::optional<double> loss;
    std::optional<int> exit_status;  // set when state is EXITED

    // records, oldest first; the ring may have overwritten older ones
    std::vector<ProcessGroup> groups;
    std::vector<WrappedModel> models;
    std::vector<CollectiveCall> collectives;
    std::vector<Backward> backwards;
    std::vector<PhaseSpan> phases;
    std::vector<OptimizerStep> steps;
    std::vector<ExceptionSeen> exceptions;
    std::vector<ChildEnd> child_ends;
    std::map<std::string, std::string> environment;
    ReplicaRecords replica;
    bool collectives_overwritten = false;  // the ring wrapped: the first calls are missing

    std::optional<FlightRecord> flight;
    std::optional<PythonStack> stack;
    std::optional<ProcessSample> sample;
    std::optional<TaskEnd> end;
    SourceRef source;
};

}  // namespace inquest::model
