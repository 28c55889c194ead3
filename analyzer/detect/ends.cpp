#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "analyzer/detect/detect.h"
#include "analyzer/detect/known_exception.h"
#include "analyzer/detect/signals.h"
#include "analyzer/detect/stack_place.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;

// Outside signals that reach several ranks within this time were sent to all of them.
constexpr int64_t kSentTogetherNs = 200'000'000;

bool ended_by_outside_signal(const RankView& view) {
    return view.end.kind == EndKind::kSignal && signal_class(view.end.signal) == "outside";
}

// Ranks that wait when `moment` comes, or fail after it: what a missing rank does to the others.
struct Effect {
    bool wait = false;
    bool failed_later = false;
};

Effect effect_on_others(const StepView& step, const RankView& culprit, WallNs moment) {
    Effect effect;
    for (const RankView& view : step.ranks) {
        if (&view == &culprit) continue;
        if (waits(view) && (moment == 0 || view.block.until_ns >= moment)) effect.wait = true;
        const bool later = view.end.wall_ns != 0 && moment != 0 && view.end.wall_ns > moment;
        if (ended_badly(view.end) && later) effect.failed_later = true;
    }
    return effect;
}

// Outside signals came to both at the same time, before any rank could fail because of the first.
bool signalled_together(const StepView& step, const RankView& a, const RankView& b) {
    if (&a == &b || !ended_by_outside_signal(a) || !ended_by_outside_signal(b)) return false;
    if (a.end.was_told || b.end.was_told) return false;
    if (std::abs(a.end.wall_ns - b.end.wall_ns) > kSentTogetherNs) return false;
    const WallNs later = std::max(a.end.wall_ns, b.end.wall_ns);
    return std::none_of(step.ranks.begin(), step.ranks.end(), [&](const RankView& view) {
        return view.end.kind == EndKind::kException && view.end.wall_ns != 0 && view.end.wall_ns < later;
    });
}

// None of a launcher's ranks gave it a reason: it was told itself.
bool launcher_was_told(const StepView& step, const RankView& view) {
    return view.end.was_told && std::all_of(step.ranks.begin(), step.ranks.end(), [&](const RankView& other) {
               return other.rank->node != view.rank->node || other.end.was_told;
           });
}

bool signalled_with_others(const StepView& step, const RankView& view) {
    if (launcher_was_told(step, view)) return true;
    return std::any_of(step.ranks.begin(), step.ranks.end(),
                       [&](const RankView& other) { return signalled_together(step, view, other); });
}

// Failures that another rank's end cannot explain. Exceptions of witnesses do not count: they are raised
// within milliseconds, often before Slurm notices the end of the rank that caused them.
bool failed_by_itself(const RankView& view, const knowledge::Knowledge& knowledge) {
    const RankEnd& end = view.end;
    if (end.kind == EndKind::kException) {
        return !know_exception(knowledge, end.exception->type, end.exception->message).witness;
    }
    if (end.was_told) return false;
    if (end.kind == EndKind::kSignal) return signal_class(end.signal) != "abort" || !waits(view);
    return end.kind == EndKind::kStatus && !view.block.failed;
}

// When the first rank failed by itself; 0: none did.
WallNs first_own_failure(const StepView& step, const knowledge::Knowledge& knowledge) {
    WallNs first = 0;
    for (const RankView& view : step.ranks) {
        const WallNs end = view.end.wall_ns;
        if (end != 0 && (first == 0 || end < first) && failed_by_itself(view, knowledge)) first = end;
    }
    return first;
}

bool another_failed_before(const RankView& view, WallNs first_failure_ns) {
    return first_failure_ns != 0 && first_failure_ns < view.end.wall_ns;
}

// A rank that aborts inside a collective was taken down by the library; one that is signalled after another
// one failed was taken down by the launcher.
bool signal_is_witness(const StepView& step, const RankView& view, WallNs first_failure_ns) {
    if (view.end.was_told) return true;
    const std::string kind = signal_class(view.end.signal);
    if (kind == "abort") return waits(view);
    if (kind != "outside") return false;
    return another_failed_before(view, first_failure_ns) || signalled_with_others(step, view);
}

// The interpreter was shutting down, and no exception had led there: the program had done its work.
bool was_leaving(const RankView& view) {
    const auto& exceptions = view.rank->exceptions;
    return view.rank->state >= INQUEST_STATE_EXITING &&
           std::none_of(exceptions.begin(), exceptions.end(),
                        [](const model::ExceptionSeen& exception) { return exception.uncaught; });
}

model::Evidence end_evidence(const RankView& view, const std::string& text) {
    const bool from_outside = view.rank->end && view.rank->end->wait_status;
    model::SourceRef source = view.rank->source;
    if (from_outside) {
        const model::SourceRef slurm = {view.rank->node + "/node.json",
                                        fmt::format("task {}", view.rank->end->task)};
        source = view.rank->end->parent_source.value_or(slurm);
    }
    return {source, view.rank->rank, view.end.wall_ns, text};
}

template <typename Calls>
void take_later(const Calls& calls, WallNs& latest_ns, model::Place& place) {
    if (calls.empty() || calls.back().begin_wall_ns <= latest_ns || !calls.back().place.known()) return;
    latest_ns = calls.back().begin_wall_ns;
    place = calls.back().place;
}

// Where the rank was last seen in the user's program.
model::Place last_known_place(const RankView& view) {
    if (model::Place crash = crash_place(view); crash.known()) return crash;
    if (place_of(view).known()) return place_of(view);
    WallNs latest_ns = 0;
    model::Place place;
    take_later(view.rank->collectives, latest_ns, place);
    take_later(view.rank->backwards, latest_ns, place);
    take_later(view.rank->phases, latest_ns, place);
    return place;
}

Observation start(const std::string& fact, const StepView& step, const RankView& view) {
    Observation observation;
    observation.fact = fact;
    observation.place = last_known_place(view);
    observation.subjects = {subject_of(view, observation.place)};
    observation.wall_ns = view.end.wall_ns;
    const Effect effect = effect_on_others(step, view, view.end.not_before_ns);
    observation.attributes = {{"others_wait", yes_no(effect.wait)},
                              {"others_failed_later", yes_no(effect.failed_later)}};
    return observation;
}

Observation signal_end(const StepView& step, const RankView& view, WallNs first_failure_ns) {
    Observation observation = start("ended_by_signal", step, view);
    const std::string name = signal_name(view.end.signal);
    observation.attributes["signal"] = std::to_string(view.end.signal);
    observation.attributes["signal_name"] = name;
    observation.attributes["class"] = signal_class(view.end.signal);
    observation.attributes["shell"] = yes_no(view.end.by_shell);
    observation.attributes["leaving"] = yes_no(was_leaving(view));
    observation.attributes["first"] = yes_no(!another_failed_before(view, first_failure_ns));
    observation.attributes["everyone"] = yes_no(signalled_with_others(step, view));
    observation.attributes["witness"] = yes_no(signal_is_witness(step, view, first_failure_ns));
    observation.evidence = {
        end_evidence(view, fmt::format("rank {} was ended by signal {} ({}) at {}", *view.rank->rank,
                                       view.end.signal, name, clock_text(view.end.wall_ns)))};
    return observation;
}

Observation status_end(const StepView& step, const RankView& view, WallNs first_failure_ns) {
    Observation observation = start("ended_with_status", step, view);
    observation.attributes["status"] = std::to_string(view.end.status);
    observation.attributes["first"] = yes_no(!another_failed_before(view, first_failure_ns));
    observation.attributes["witness"] = yes_no(another_failed_before(view, first_failure_ns));
    observation.evidence = {
        end_evidence(view, fmt::format("rank {} ended with status {} at {}", *view.rank->rank,
                                       view.end.status, clock_text(view.end.wall_ns)))};
    return observation;
}

struct Waiters {
    std::vector<size_t> indices;
    int64_t steps = 0;
    const model::CollectiveCall* call = nullptr;
    std::string doing;
    model::Place place;
};

Waiters waiters_after(const StepView& step, const RankView& gone) {
    Waiters waiters;
    for (size_t index = 0; index < step.ranks.size(); ++index) {
        const RankView& view = step.ranks[index];
        if (&view == &gone || !waits(view)) continue;
        if (gone.end.not_before_ns != 0 && view.block.until_ns < gone.end.not_before_ns) continue;
        waiters.indices.push_back(index);
        waiters.steps = std::max(waiters.steps, view.rank->step);
        if (waiters.indices.size() > 1) continue;
        waiters.call = view.block.call;
        waiters.doing = view.block.call != nullptr ? view.block.call->operation : "backward";
        waiters.place = place_of(view);
    }
    return waiters;
}

bool made_call_before(const RankView& view, const model::CollectiveCall* site) {
    if (site == nullptr) return true;
    const auto& calls = view.rank->collectives;
    return std::any_of(calls.begin(), calls.end(), [&](const model::CollectiveCall& call) {
        return call.operation == site->operation && call.place.file == site->place.file &&
               call.place.line == site->place.line;
    });
}

size_t count_zero_ends(const StepView& step) {
    return static_cast<size_t>(std::count_if(step.ranks.begin(), step.ranks.end(), [](const RankView& view) {
        return view.end.kind == EndKind::kZero;
    }));
}

Observation zero_end(const StepView& step, const RankView& view) {
    Observation observation = start("exited_zero", step, view);
    const Waiters waiters = waiters_after(step, view);
    std::vector<int> others;
    others.reserve(waiters.indices.size());
    for (const size_t index : waiters.indices)
        others.push_back(*step.ranks[index].rank->rank);
    observation.attributes["others_wait"] = yes_no(!waiters.indices.empty());
    observation.attributes["minority"] = yes_no(count_zero_ends(step) <= waiters.indices.size());
    observation.attributes["steps_behind"] = yes_no(view.rank->step < waiters.steps);
    observation.attributes["call_shared"] = yes_no(made_call_before(view, waiters.call));
    observation.attributes["operation"] = waiters.doing;
    observation.attributes["other_place"] = knowledge::describe_place(waiters.place);
    observation.attributes["others"] = knowledge::describe_ranks(others);
    observation.evidence = {
        end_evidence(view, fmt::format("rank {} ended with status 0 at {} after {} optimizer steps",
                                       *view.rank->rank, clock_text(view.end.wall_ns), view.rank->step))};
    return observation;
}

Observation exception_seen(const StepView& step, const RankView& view, const model::ExceptionSeen& exception,
                           const knowledge::Knowledge& knowledge) {
    Observation observation =
        start(exception.uncaught ? "uncaught_exception" : "caught_exception", step, view);
    observation.place = exception.place;
    observation.subjects = {subject_of(view, exception.place)};
    observation.wall_ns = exception.wall_ns;
    observation.attributes["type"] = exception.type;
    observation.attributes["message"] = exception.message;
    observation.attributes["call"] = exception.call;
    observation.evidence = {{exception.source, view.rank->rank, exception.wall_ns,
                             fmt::format("{}: {} at {}:{}", exception.type, exception.message,
                                         exception.place.file, exception.place.line)}};
    if (!exception.uncaught) return observation;
    const KnownException known = know_exception(knowledge, exception.type, exception.message);
    observation.attributes["witness"] = yes_no(known.witness);
    observation.attributes["known_as"] = known.known_as.empty() ? "none" : known.known_as;
    observation.attributes["known_text"] = known.meaning;
    observation.attributes["in_collective"] = yes_no(exception.in_collective);
    return observation;
}

void add_memory_limit(const StepView& step, Observations& observations) {
    for (const model::Node& node : step.timeline->nodes) {
        for (const model::TaskEnd& task : node.tasks) {
            if (task.oom_kills <= 0) continue;
            Observation observation;
            observation.fact = "memory_limit_hit";
            observation.subjects = {{std::nullopt, node.name, task.pid, {}}};
            observation.attributes = {{"count", std::to_string(task.oom_kills)}};
            observation.wall_ns = task.exited_wall_ns.value_or(0);
            observation.evidence = {
                {node.source, std::nullopt, observation.wall_ns,
                 fmt::format("{} kills by the memory limit on {}", task.oom_kills, node.name)}};
            observations.push_back(std::move(observation));
        }
    }
}

bool was_cancelled(const StepView& step) {
    const auto& nodes = step.timeline->nodes;
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const model::Node& node) { return node.cancelled_for_divergence; });
}

}  // namespace

Observations detect_ends(const StepView& step, const knowledge::Knowledge& knowledge) {
    Observations observations;
    if (was_cancelled(step)) return observations;
    const WallNs first_failure_ns = first_own_failure(step, knowledge);
    for (const RankView& view : step.ranks) {
        if (view.end.kind == EndKind::kSignal)
            observations.push_back(signal_end(step, view, first_failure_ns));
        if (view.end.kind == EndKind::kStatus)
            observations.push_back(status_end(step, view, first_failure_ns));
        if (view.end.kind == EndKind::kZero) observations.push_back(zero_end(step, view));
        for (const model::ExceptionSeen& exception : view.rank->exceptions) {
            observations.push_back(exception_seen(step, view, exception, knowledge));
        }
    }
    add_memory_limit(step, observations);
    return observations;
}

}  // namespace inquest::detect
