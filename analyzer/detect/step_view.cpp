#include "analyzer/detect/step_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>

#include "analyzer/detect/known_exception.h"
#include "analyzer/detect/signals.h"

namespace inquest::detect {
namespace {

using model::Rank;

// A shell reports a child that a signal killed as 128 plus the signal (POSIX, exit status of a command).
constexpr int kShellSignalBase = 128;
constexpr int kHighestSignal = 64;
// An exception surfaces in Python this long after the C++ wait that raised it, at most.
constexpr int64_t kRaiseSlackNs = 2'000'000'000;
// slurmstepd and inquestd notice the end of a process this much later than its peers, at most.
constexpr int64_t kNoticedLateNs = 2'000'000'000;
// A process that used less than a twentieth of one core while it was sampled does not work.
constexpr int64_t kBusyFraction = 20;

const model::ExceptionSeen* uncaught_exception(const Rank& rank) {
    const auto found = std::find_if(rank.exceptions.rbegin(), rank.exceptions.rend(),
                                    [](const auto& exception) { return exception.uncaught; });
    return found == rank.exceptions.rend() ? nullptr : &*found;
}

void read_wait_status(const Rank& rank, int wait_status, RankEnd& end) {
    if (WIFSIGNALED(wait_status)) {
        end.kind = EndKind::kSignal;
        end.signal = WTERMSIG(wait_status);
        end.was_told = rank.end->was_told;
        return;
    }
    end.status = WEXITSTATUS(wait_status);
    const int signal = end.status - kShellSignalBase;
    const bool from_shell = rank.end->pid != rank.pid && signal > 0 && signal <= kHighestSignal;
    end.kind = from_shell ? EndKind::kSignal : end.status == 0 ? EndKind::kZero : EndKind::kStatus;
    end.by_shell = from_shell;
    end.signal = from_shell ? signal : 0;
}

// A process of its own below the task (torchrun, spawn) whose box tells how it ended: the task's status is
// another process's.
bool task_ended_otherwise(const Rank& rank) {
    return rank.exit_status && rank.end->pid != rank.pid;
}

void read_kind(const Rank& rank, RankEnd& end) {
    if (rank.exit_status) {
        end.status = *rank.exit_status;
        end.kind = end.status == 0 ? EndKind::kZero : EndKind::kStatus;
    } else if (rank.sample && !rank.sample->alive) {
        end.kind = EndKind::kGone;
    }
    if (rank.end && rank.end->wait_status && !task_ended_otherwise(rank)) {
        read_wait_status(rank, *rank.end->wait_status, end);
    }
}

// The box's own last words are exact. Whoever looks from outside notices the end later, and the peers that
// depend on the process suffer in between.
void read_time(const Rank& rank, RankEnd& end) {
    const bool told = rank.exit_status && (end.kind == EndKind::kZero || end.kind == EndKind::kStatus);
    if (told && rank.last_progress_wall_ns != 0) {
        end.wall_ns = end.not_before_ns = rank.last_progress_wall_ns;
        return;
    }
    if (rank.sample && rank.sample->gone_wall_ns) end.wall_ns = *rank.sample->gone_wall_ns;
    if (rank.end && rank.end->exited_wall_ns) end.wall_ns = *rank.end->exited_wall_ns;
    if (end.wall_ns == 0) return;
    end.not_before_ns = std::max(end.wall_ns - kNoticedLateNs, rank.last_progress_wall_ns);
}

// A launcher also sends its signal to a worker that is already ending because of an exception.
bool may_end_by_exception(const RankEnd& end) {
    return end.kind != EndKind::kZero && (end.kind != EndKind::kSignal || end.was_told);
}

RankEnd end_of(const Rank& rank) {
    RankEnd end;
    read_kind(rank, end);
    read_time(rank, end);
    const model::ExceptionSeen* exception = uncaught_exception(rank);
    if (exception != nullptr && may_end_by_exception(end)) {
        end.kind = EndKind::kException;
        end.exception = exception;
        if (exception->wall_ns != 0) end.wall_ns = end.not_before_ns = exception->wall_ns;
    }
    return end;
}

// The exception that came out of a wait and ended the rank's work, if one did.
const model::ExceptionSeen* exception_of_wait(const Rank& rank) {
    for (auto seen = rank.exceptions.rbegin(); seen != rank.exceptions.rend(); ++seen) {
        if (seen->in_collective) return &*seen;
        if (!seen->uncaught) break;
    }
    return nullptr;
}

template <typename Call>
bool spans(const Call& call, WallNs moment) {
    return call.begin_wall_ns <= moment &&
           (!call.end_wall_ns || std::abs(*call.end_wall_ns - moment) <= kRaiseSlackNs);
}

Block block_in(const model::CollectiveCall& call) {
    return {BlockKind::kCollective, &call, nullptr, call.begin_wall_ns, 0, false};
}

Block block_in(const model::Backward& backward) {
    return {BlockKind::kBackward, nullptr, &backward, backward.begin_wall_ns, 0, false};
}

const Block& later(const Block& a, const Block& b) {
    return b.since_ns > a.since_ns ? b : a;
}

Block open_block(const Rank& rank) {
    Block block;
    for (const model::CollectiveCall& call : rank.collectives) {
        if (!call.end_wall_ns && !call.async) block = later(block, block_in(call));
    }
    for (const model::Backward& backward : rank.backwards) {
        if (!backward.end_wall_ns) block = later(block, block_in(backward));
    }
    return block;
}

// An asynchronous call that nobody waited for blocks only when nothing else explains the silence.
Block open_async_block(const Rank& rank) {
    if (rank.collectives.empty()) return {};
    const model::CollectiveCall& last = rank.collectives.back();
    return last.async && !last.end_wall_ns ? block_in(last) : Block{};
}

Block failed_block(const Rank& rank, const model::ExceptionSeen& exception) {
    Block block;
    for (const model::CollectiveCall& call : rank.collectives) {
        if (spans(call, exception.wall_ns)) block = later(block, block_in(call));
    }
    for (const model::Backward& backward : rank.backwards) {
        if (spans(backward, exception.wall_ns)) block = later(block, block_in(backward));
    }
    block.failed = block.kind != BlockKind::kNone;
    block.until_ns = exception.wall_ns;
    return block;
}

Block block_of(const RankView& view) {
    if (view.end.kind == EndKind::kZero) return {};
    Block block = open_block(*view.rank);
    const model::ExceptionSeen* exception = exception_of_wait(*view.rank);
    if (exception != nullptr && exception->wall_ns >= block.since_ns) {
        block = failed_block(*view.rank, *exception);
    }
    if (block.kind == BlockKind::kNone) block = open_async_block(*view.rank);
    if (block.until_ns == 0) block.until_ns = view.end.wall_ns != 0 ? view.end.wall_ns : view.seen_ns;
    return block;
}

const model::PhaseSpan* open_phase_of(const Rank& rank) {
    const auto found =
        std::find_if(rank.phases.rbegin(), rank.phases.rend(), [](const model::PhaseSpan& phase) {
            return !phase.end_wall_ns && phase.phase != INQUEST_PHASE_BACKWARD &&
                   phase.phase != INQUEST_PHASE_GROUP_SETUP;
        });
    return found == rank.phases.rend() ? nullptr : &*found;
}

bool sample_is_busy(const Rank& rank) {
    if (!rank.sample || !rank.sample->alive) return false;
    const model::ProcessSample& sample = *rank.sample;
    const int64_t cpu_ns = sample.cpu_after_ns - sample.cpu_ns;
    return writes(sample) || (sample.cpu_interval_ns > 0 && cpu_ns > sample.cpu_interval_ns / kBusyFraction);
}

WallNs collected_at(const model::Timeline& timeline, const std::string& node) {
    const auto found = std::find_if(timeline.nodes.begin(), timeline.nodes.end(),
                                    [&](const model::Node& known) { return known.name == node; });
    return found == timeline.nodes.end() ? 0 : found->collected_wall_ns;
}

// A rank that was signalled after a long wait hung first; one that crashed or was killed in a short one did
// not.
bool failed_by_itself(const RankView& view, const knowledge::Knowledge& knowledge) {
    if (view.end.kind == EndKind::kException) {
        const model::ExceptionSeen& exception = *view.end.exception;
        return !know_exception(knowledge, exception.type, exception.message).witness;
    }
    if (view.end.kind != EndKind::kSignal || view.end.was_told) return false;
    const std::string kind = signal_class(view.end.signal);
    return kind == "fault" || (kind == "outside" && !waits_long(view));
}

RankView view_rank(const model::Timeline& timeline, const Rank& rank, const knowledge::Knowledge& knowledge) {
    RankView view;
    view.rank = &rank;
    view.seen_ns = collected_at(timeline, rank.node);
    view.end = end_of(rank);
    view.open_phase = open_phase_of(rank);
    view.block = block_of(view);
    view.end.own_failure = failed_by_itself(view, knowledge);
    view.works = !waits(view) && view.end.kind == EndKind::kRunning &&
                 (sample_is_busy(rank) || view.open_phase != nullptr);
    return view;
}

int world_size_of(const model::Timeline& timeline, const std::vector<RankView>& ranks) {
    int world = timeline.world_size.value_or(0);
    for (const RankView& view : ranks) {
        world = std::max({world, view.rank->world_size.value_or(0), view.rank->rank.value_or(-1) + 1});
    }
    return world;
}

void judge_stall(StepView& step) {
    step.stalled = std::any_of(step.ranks.begin(), step.ranks.end(), waits_long);
    for (const RankView& view : step.ranks) {
        step.stalled_since_ns = std::max(step.stalled_since_ns, view.rank->last_progress_wall_ns);
    }
}

bool any_task_failed(const model::Timeline& timeline) {
    for (const model::Node& node : timeline.nodes) {
        for (const model::TaskEnd& task : node.tasks) {
            if (task.wait_status && *task.wait_status != 0) return true;
        }
    }
    return false;
}

void judge_end(StepView& step) {
    if (all_ended_with_zero(step)) return;
    judge_stall(step);
    step.failed = any_task_failed(*step.timeline) ||
                  std::any_of(step.ranks.begin(), step.ranks.end(),
                              [](const RankView& view) { return ended_badly(view.end); });
    step.trouble = step.stalled || step.failed;
}

bool all_tasks_ended_with_zero(const model::Timeline& timeline) {
    size_t ended = 0;
    for (const model::Node& node : timeline.nodes) {
        for (const model::TaskEnd& task : node.tasks) {
            if (!task.wait_status || *task.wait_status != 0) return false;
            ++ended;
        }
    }
    return ended > 0 && (!timeline.task_count || static_cast<int>(ended) >= *timeline.task_count);
}

}  // namespace

bool writes(const model::ProcessSample& sample) {
    return sample.bytes_written_after - sample.bytes_written > kTraceBytes;
}

bool all_ended_with_zero(const StepView& step) {
    if (all_tasks_ended_with_zero(*step.timeline)) return true;
    const bool all_zero = std::all_of(step.ranks.begin(), step.ranks.end(),
                                      [](const RankView& view) { return view.end.kind == EndKind::kZero; });
    return !step.ranks.empty() && static_cast<size_t>(step.world_size) == step.ranks.size() && all_zero;
}

bool ended_badly(const RankEnd& end) {
    return end.kind == EndKind::kStatus || end.kind == EndKind::kSignal || end.kind == EndKind::kException;
}

bool waits(const RankView& view) {
    return view.block.kind != BlockKind::kNone;
}

int64_t waited_ns(const RankView& view) {
    return waits(view) ? std::max<int64_t>(view.block.until_ns - view.block.since_ns, 0) : 0;
}

bool waits_long(const RankView& view) {
    return waited_ns(view) >= kShortestStallNs;
}

StepView view_step(const model::Timeline& timeline, const knowledge::Knowledge& knowledge) {
    StepView step;
    step.timeline = &timeline;
    for (const Rank& rank : timeline.ranks) {
        if (rank.rank) step.ranks.push_back(view_rank(timeline, rank, knowledge));
    }
    std::stable_sort(step.ranks.begin(), step.ranks.end(),
                     [](const RankView& a, const RankView& b) { return *a.rank->rank < *b.rank->rank; });
    step.world_size = world_size_of(timeline, step.ranks);
    judge_end(step);
    return step;
}

const model::Place& place_of(const RankView& view) {
    static const model::Place nowhere;
    if (view.block.call != nullptr) return view.block.call->place;
    if (view.block.backward != nullptr) return view.block.backward->place;
    if (view.open_phase != nullptr) return view.open_phase->place;
    if (view.end.exception != nullptr) return view.end.exception->place;
    return nowhere;
}

model::Subject subject_of(const RankView& view, const model::Place& place) {
    return {view.rank->rank, view.rank->node, view.rank->pid, place};
}

model::Subject subject_of(const RankView& view) {
    return subject_of(view, place_of(view));
}

std::string seconds_text(int64_t duration_ns) {
    const double seconds = static_cast<double>(duration_ns) / 1e9;
    return fmt::format("{:.{}f}", seconds, seconds < 10 ? 1 : 0);
}

std::string clock_text(WallNs wall_ns) {
    if (wall_ns == 0) return "an unknown time";
    const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
    return fmt::format("{:%H:%M:%S} UTC", fmt::gmtime(seconds));
}

}  // namespace inquest::detect
