#include <fmt/format.h>

#include <algorithm>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;
using model::PhaseSpan;

const char* phase_name(inquest_phase phase) {
    switch (phase) {
        case INQUEST_PHASE_SAVE:
            return "save";
        case INQUEST_PHASE_LOAD:
            return "load";
        case INQUEST_PHASE_COMPILE:
            return "compile";
        case INQUEST_PHASE_GROUP_SETUP:
            return "group_setup";
        case INQUEST_PHASE_BACKWARD:
            return "backward";
        case INQUEST_PHASE_NONE:
            break;
    }
    return "none";
}

// When the rank did anything else that is recorded after `moment`; 0: nothing.
WallNs next_record_after(const model::Rank& rank, WallNs moment) {
    WallNs next = 0;
    const auto consider = [&](WallNs at) {
        if (at > moment && (next == 0 || at < next)) next = at;
    };
    for (const auto& call : rank.collectives)
        consider(call.begin_wall_ns);
    for (const auto& backward : rank.backwards)
        consider(backward.begin_wall_ns);
    for (const auto& phase : rank.phases)
        consider(phase.begin_wall_ns);
    for (const auto& step : rank.steps)
        consider(step.wall_ns);
    for (const auto& exception : rank.exceptions)
        consider(exception.wall_ns);
    return next;
}

// A save often serialises first and writes later, without another recorded call: the rank is busy from the
// begin of the phase until it is known to do anything else.
WallNs busy_until(const RankView& view, const PhaseSpan& span) {
    const WallNs next = span.end_wall_ns ? next_record_after(*view.rank, *span.end_wall_ns) : 0;
    if (next != 0) return next;
    return view.end.wall_ns != 0 ? view.end.wall_ns : view.seen_ns;
}

// Others that waited in a call while the span lasted, and for how many of them the wait ended within it,
// badly.
struct Waiting {
    std::vector<int> ranks;
    const RankView* first = nullptr;
    size_t timed_out = 0;
    size_t still = 0;
};

Waiting waiting_during(const StepView& step, const RankView& busy, const PhaseSpan& span) {
    Waiting waiting;
    const WallNs until = busy_until(busy, span);
    const bool still_busy = busy.end.kind == EndKind::kRunning && until == busy.seen_ns;
    for (const RankView& view : step.ranks) {
        if (&view == &busy || !waits(view)) continue;
        const bool overlaps = view.block.since_ns < until && view.block.until_ns > span.begin_wall_ns;
        if (!overlaps || !waits_long(view)) continue;
        waiting.ranks.push_back(*view.rank->rank);
        if (waiting.first == nullptr) waiting.first = &view;
        const bool within = view.block.until_ns <= until;
        if (view.block.failed && within) ++waiting.timed_out;
        // Nodes are looked at one after the other: no two times of collection are the same.
        if (still_busy && view.end.kind == EndKind::kRunning && !view.block.failed) ++waiting.still;
    }
    return waiting;
}

// Was the rank still inside the call when the others' waiting ended?
bool open_while_waiting(const PhaseSpan& span, const Waiting& waiting) {
    return !span.end_wall_ns || *span.end_wall_ns >= waiting.first->block.until_ns;
}

bool waits_within(const RankView& view, const PhaseSpan& span) {
    return waits(view) && view.block.since_ns >= span.begin_wall_ns && !span.end_wall_ns;
}

std::string writing_state(const RankView& view) {
    if (!view.rank->sample) return "unknown";
    return yes_no(writes(*view.rank->sample));
}

model::Evidence span_evidence(const RankView& view, const PhaseSpan& span, const std::string& writes) {
    std::string text = fmt::format(
        "rank {} entered {} at {}:{} at {}, {}", *view.rank->rank, span.call, span.place.file,
        span.place.line, clock_text(span.begin_wall_ns),
        span.end_wall_ns ? "left it at " + clock_text(*span.end_wall_ns) : std::string("has not left it"));
    if (writes == "yes") {
        const auto& sample = *view.rank->sample;
        text += fmt::format("; wrote {} bytes within {} s", sample.bytes_written_after - sample.bytes_written,
                            seconds_text(sample.cpu_interval_ns));
    }
    return {span.source, view.rank->rank, span.begin_wall_ns, text};
}

Observation busy_phase(const RankView& view, const PhaseSpan& span, const Waiting& waiting) {
    Observation observation;
    const std::string writes = writing_state(view);
    observation.fact = "phase_others_wait";
    observation.place = span.place;
    observation.subjects = {subject_of(view, span.place)};
    observation.wall_ns = span.begin_wall_ns;
    observation.attributes = {
        {"phase", phase_name(span.phase)},
        {"call", span.call},
        {"writes", writes},
        {"open", yes_no(open_while_waiting(span, waiting))},
        {"blocked", yes_no(waits_within(view, span))},
        {"others", knowledge::describe_ranks(waiting.ranks)},
        {"others_timed_out", yes_no(waiting.timed_out > 0)},
        {"operation",
         waiting.first->block.call != nullptr ? waiting.first->block.call->operation : "backward"},
        {"elapsed_s", seconds_text(busy_until(view, span) - span.begin_wall_ns)},
        {"at_end", waiting.timed_out > 0 ? "crash" : "slow"}};
    observation.evidence = {span_evidence(view, span, writes)};
    return observation;
}

}  // namespace

Observations detect_phases(const StepView& step) {
    Observations observations;
    if (!step.trouble) return observations;
    for (const RankView& view : step.ranks) {
        for (const PhaseSpan& span : view.rank->phases) {
            if (span.phase == INQUEST_PHASE_BACKWARD || span.phase == INQUEST_PHASE_GROUP_SETUP) continue;
            const Waiting waiting = waiting_during(step, view, span);
            if (waiting.timed_out + waiting.still == 0) continue;
            observations.push_back(busy_phase(view, span, waiting));
        }
    }
    return observations;
}

}  // namespace inquest::detect
