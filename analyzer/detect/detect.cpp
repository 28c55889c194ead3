#include "analyzer/detect/detect.h"

#include <utility>

namespace inquest::detect {

Observations detect_all(const model::Timeline& timeline, const knowledge::Knowledge& knowledge) {
    const StepView step = view_step(timeline, knowledge);
    Observations all;
    const auto add = [&](Observations found) {
        all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    };
    add(detect_waits(step));
    add(detect_call_differences(step));
    add(detect_flight_lag(step));
    add(detect_ends(step, knowledge));
    add(detect_phases(step));
    add(detect_step_state(step));
    add(detect_divergence(step));
    add(detect_divergence_hints(step));
    add(detect_samples(step));
    add(detect_log_signatures(step, knowledge));
    add(detect_log_tracebacks(step, knowledge));
    return all;
}

}  // namespace inquest::detect
