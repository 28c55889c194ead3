// The closed list of facts that detectors state and knowledge may use. The loader of configs/knowledge checks
// every name in a rule against it. Meaning of each: docs/formats/knowledge.md.
#pragma once
#include <array>
#include <string_view>

namespace inquest::model {

struct FactDescription {
    std::string_view fact;
    std::string_view attributes;  // names separated by blanks
};

inline constexpr std::array kFactVocabulary = {
    FactDescription{"waits_in_collective",
                    "operation group sequence position elements dtype waited_s others_entered member_count"},
    FactDescription{"inside_backward", "step waited_s blocked"},
    FactDescription{"calls_differ",
                    "kind aspect group operation sequence position other_operation other_place others "
                    "alone tie one_sided others_in_backward flight_agrees at_end side_by"},
    FactDescription{"rank_absent", "operation group position doing others other_place at_end"},
    FactDescription{"flight_lag", "others lag"},
    FactDescription{"ended_by_signal",
                    "signal signal_name class first everyone witness shell leaving others_wait "
                    "others_failed_later"},
    FactDescription{"ended_with_status", "status first witness others_wait others_failed_later"},
    FactDescription{
        "exited_zero",
        "others_wait others_failed_later minority steps_behind call_shared operation other_place others"},
    FactDescription{
        "uncaught_exception",
        "type message witness known_as known_text call in_collective others_wait others_failed_later"},
    FactDescription{"caught_exception", "type message call"},
    FactDescription{"phase_others_wait",
                    "phase call writes open blocked others others_timed_out operation elapsed_s at_end"},
    FactDescription{"loss_not_finite", "loss step"},
    FactDescription{"stalled", "since_s works blocked_ranks known_ranks"},
    FactDescription{"deadlock", "blocked_ranks known_ranks"},
    FactDescription{"ended_well", "by rank_count"},
    FactDescription{"still_running", "rank_count"},
    FactDescription{"step_failed", "rank_count"},
    FactDescription{"memory_limit_hit", "count"},
    FactDescription{"rank_missing", "known world"},
    FactDescription{"node_missing", "known node_count"},
    FactDescription{"no_black_box", "logs"},
    FactDescription{"damaged_evidence", "count"},
    FactDescription{"framework", "framework wrapper"},
    FactDescription{"collective_timeout", "seconds"},
    FactDescription{"replicas_differ",
                    "part first_bad_step last_good_step when site tensors differing total few lanes isolated "
                    "relative tiny growth grows promise agreement tie all_differ others first gradients "
                    "hyperparameters optimizer_state"},
    FactDescription{"initial_weights_differ",
                    "loaded seeds tensors differing total tie others promise wrapper"},
    FactDescription{"state_loaded", "step"},
    FactDescription{"gradients_differ", "step size relative tensors others"},
    FactDescription{"accumulation_differs", "kind step counts others skipped last_unsynced"},
    FactDescription{"wrapper_bypassed", "steps everyone wrapper bare"},
    FactDescription{"statistics_differ", "batch_norms wrapper tensors"},
    FactDescription{"hyperparameters_differ", "step"},
    FactDescription{"random_state_differs", "generators"},
    FactDescription{"seeds_differ", "seeds"},
    FactDescription{"batches_compared", "relation compared"},
    FactDescription{"samplers_differ", "aspect values sampler others replicas"},
    FactDescription{"samples_overlap", "overlap_percent others sampler replicas shared compared"},
    FactDescription{"steps_skipped", "count others"},
    FactDescription{"loss_gap", "percent lowest highest steps"},
    FactDescription{"gradient_norms_bimodal", "step low high others"},
    FactDescription{"environment_differs", "name value others_value others"},
    FactDescription{"log_line", "signature role known_as text operation timeout_ms sequence waited_ms"},
};

inline constexpr bool has_word(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        const size_t blank = words.find(' ');
        if (words.substr(0, blank) == word) return true;
        if (blank == std::string_view::npos) return false;
        words.remove_prefix(blank + 1);
    }
    return false;
}

inline constexpr const FactDescription* find_fact(std::string_view name) {
    for (const FactDescription& known : kFactVocabulary) {
        if (known.fact == name) return &known;
    }
    return nullptr;
}

}  // namespace inquest::model
