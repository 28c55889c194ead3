// What each process of the step was doing at the end of what is known about it: the shared ground of the
// detectors. Built once from a timeline; keeps pointers into it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/model/observation.h"
#include "analyzer/model/timeline.h"

namespace inquest::detect {

using model::WallNs;
using Observations = std::vector<model::Observation>;

enum class EndKind {
    kRunning,    // alive when it was last seen
    kGone,       // dead, and nothing says how
    kZero,       // exit status 0
    kStatus,     // another exit status
    kSignal,     // killed by a signal
    kException,  // an uncaught Python exception
};

struct RankEnd {
    EndKind kind = EndKind::kRunning;
    int status = 0;
    int signal = 0;
    bool by_shell = false;     // the signal was read from a shell's status 128 + n
    bool was_told = false;     // the signal came from the process's own parent: a launcher after a failure
    WallNs wall_ns = 0;        // when it was noticed; 0: unknown or running
    WallNs not_before_ns = 0;  // it still ran then; what others suffered from its end came later; 0: unknown
    const model::ExceptionSeen* exception = nullptr;
    bool own_failure = false;  // it failed by itself, not because of what it waited for
};

enum class BlockKind { kNone, kCollective, kBackward };

// The call in which a process waited until it ended, failed or was last seen.
struct Block {
    BlockKind kind = BlockKind::kNone;
    const model::CollectiveCall* call = nullptr;  // kCollective
    const model::Backward* backward = nullptr;    // kBackward
    WallNs since_ns = 0;
    WallNs until_ns = 0;
    bool failed = false;  // an exception came out of it
};

struct RankView {
    const model::Rank* rank = nullptr;
    RankEnd end;
    Block block;
    const model::PhaseSpan* open_phase = nullptr;  // other than backward
    WallNs seen_ns = 0;                            // when the evidence about it was collected
    bool works = false;                            // not blocked, and busy by CPU time, writing or phase
};

struct StepView {
    const model::Timeline* timeline = nullptr;
    std::vector<RankView> ranks;  // processes with a global rank, ascending
    int world_size = 0;           // 0: unknown
    bool failed = false;          // a rank or a task ended badly
    bool trouble = false;         // somebody failed, or the step stalled; never when all ended with 0
    bool stalled = false;         // nobody has made progress for the stall time
    WallNs stalled_since_ns = 0;
};

// A wait that is shorter than this says nothing.
inline constexpr int64_t kShortestStallNs = 5'000'000'000;

// A process that is asked for its stack writes some; one that logs writes some. Saving is more than that.
inline constexpr int64_t kTraceBytes = 16 << 10;
bool writes(const model::ProcessSample& sample);  // more than that while it was looked at

StepView view_step(const model::Timeline& timeline, const knowledge::Knowledge& knowledge);

bool all_ended_with_zero(const StepView& step);
bool ended_badly(const RankEnd& end);
bool waits(const RankView& view);       // blocked, or failed while blocked
bool waits_long(const RankView& view);  // for at least kShortestStallNs
int64_t waited_ns(const RankView& view);

model::Subject subject_of(const RankView& view);
model::Subject subject_of(const RankView& view, const model::Place& place);
const model::Place& place_of(const RankView& view);  // where it is or was; may be unknown

// "16.3 s since 04:01:29 UTC" and the like.
std::string seconds_text(int64_t duration_ns);
std::string clock_text(WallNs wall_ns);

inline std::string yes_no(bool value) {
    return value ? "yes" : "no";
}

}  // namespace inquest::detect
