// Everything that is known about one step, in one place: the only input of the detectors besides knowledge.
// Passive data, read once by analyzer/evidence, then constant.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/rank.h"
#include "analyzer/model/source.h"

namespace inquest::model {

struct Node {
    std::string name;
    int index = -1;
    std::string reason;  // of the newest harvest: stall, death, failure, divergence, end, requested
    WallNs collected_wall_ns = 0;
    std::optional<WallNs> stalled_since_wall_ns;
    int64_t stall_ns = 0;
    bool step_ended = false;
    bool cancelled_for_divergence = false;  // this node cancelled the job: how its tasks ended says nothing
    std::vector<TaskEnd> tasks;             // of this node, with and without a box
    SourceRef source;
};

// What the time of a log line is worth.
enum class LogClock {
    kUtc,              // the line names its zone, or UTC
    kLocal,            // no zone: wall_ns was read as UTC and is off by the node's offset
    kLocalWithoutYear  // neither zone nor year (glog, syslog): the year is that of the file's other lines,
                       // else 1970; good for order within the file only
};

// A text log, split into lines; lines longer than the reader's bound are cut and noted.
struct LogLine {
    int64_t number = 0;  // from 1
    std::string text;
    std::optional<int> rank;  // from "[rank3]:", "3: " (srun --label), "[default0]:[rank12]:", ...
    std::optional<WallNs> wall_ns;
    LogClock clock = LogClock::kUtc;
};

struct LogFile {
    std::string name;
    std::vector<LogLine> lines;
};

struct Timeline {
    std::optional<int64_t> job;
    std::optional<std::string> step;
    std::optional<int>
        node_count;  // nodes the step had; nodes below may be fewer: missing nodes are evidence too
    std::optional<int> task_count;
    std::optional<int> world_size;
    std::vector<Node> nodes;
    std::vector<std::string> missing_nodes;  // named by the others, without evidence of their own
    std::vector<Rank> ranks;  // those with a rank first, ascending; then processes that never became one
    std::vector<LogFile> logs;
    std::vector<FlightRecord> unattached_flights;  // dumps without a process that they belong to
    std::optional<std::vector<std::string>> injected;
    std::vector<Note> notes;
};

}  // namespace inquest::model
