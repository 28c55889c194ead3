// All detectors: pure functions from what is known about a step to facts. No detector names a cause.
#pragma once
#include "analyzer/detect/step_view.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/model/observation.h"
#include "analyzer/model/timeline.h"

namespace inquest::detect {

// Every fact about the step, in an order that depends on the timeline alone.
Observations detect_all(const model::Timeline& timeline, const knowledge::Knowledge& knowledge);

// Who waits in which call: waits_in_collective, inside_backward.
Observations detect_waits(const StepView& step);
// Where the calls of a group differ between its ranks: calls_differ, rank_absent.
Observations detect_call_differences(const StepView& step);
// Who is behind in the flight recorder dumps of ranks without a black box: flight_lag.
Observations detect_flight_lag(const StepView& step);
// How ranks ended: ended_by_signal, ended_with_status, exited_zero, uncaught_exception, caught_exception.
Observations detect_ends(const StepView& step, const knowledge::Knowledge& knowledge);
// Ranks in a phase while others wait for them: phase_others_wait.
Observations detect_phases(const StepView& step);
// The step as a whole: stalled, deadlock, ended_well, still_running, missing evidence, framework, loss.
Observations detect_step_state(const StepView& step);
// Replicas that have to be equal and are not, and what else was different then: replicas_differ and the facts
// of divergence_reasons.h.
Observations detect_divergence(const StepView& step);
// Weak evidence about replicas: loss_gap, gradient_norms_bimodal, environment_differs.
Observations detect_divergence_hints(const StepView& step);
// Sharded data that ranks do not read as they should: samplers_differ, samples_overlap.
Observations detect_samples(const StepView& step);
// Known messages and tracebacks in logs: log_line, uncaught_exception, ended_by_signal.
Observations detect_log_signatures(const StepView& step, const knowledge::Knowledge& knowledge);
Observations detect_log_tracebacks(const StepView& step, const knowledge::Knowledge& knowledge);

}  // namespace inquest::detect
