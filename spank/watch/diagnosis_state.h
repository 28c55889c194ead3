/* What a worker may know of its step's diagnosis: a few fields, by which it decides what to do next. */
#ifndef INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H
#define INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H

#include <optional>
#include <string>

#include "spank/harvest/step_description.h"

namespace inquest::watch {

/* Fields of configs/schemas/diagnosis.schema.json; empty where ill-typed. */
struct DiagnosisState {
    std::string cause;
    std::string family;
    std::string confidence;
    std::string end;

    [[nodiscard]] bool is_healthy() const { return cause == "healthy"; }
    [[nodiscard]] bool is_about_replicas() const { return family == "weight-divergence"; }
    [[nodiscard]] bool is_unknown() const { return cause.empty() || cause == "unknown"; }
};

/* diagnosis.json of the report directory; nothing when there is none about this step. It is the user's. */
std::optional<DiagnosisState> read_diagnosis_state(const harvest::StepDescription& step);

/* The diagnosis stands although there is newer evidence: makes the notice, for which srun waits, as new. */
void confirm_diagnosis(const harvest::StepDescription& step);

/* True when diagnosis.json of the report directory is about this step and says that it hangs, crashed or
 * exited (field "end" of configs/schemas/diagnosis.schema.json). A step that is slow, healthy or unknown may
 * turn out otherwise. */
bool is_diagnosed_for_good(const harvest::StepDescription& step);

}  // namespace inquest::watch

#endif
