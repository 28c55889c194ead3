/* What a worker may know of its step's diagnosis: a few fields, by which it decides what to do next. */
#ifndef INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H
#define INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H

#include <cstdint>
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
    std::string initiators; /* as they stand in the file */
    int64_t written_ns = 0; /* modification time of the file */

    [[nodiscard]] bool is_healthy() const { return cause == "healthy"; }
    /* Nothing failed, but the result is wrong: replicas differ, whether or not the cause is known. */
    [[nodiscard]] bool is_silent() const { return end == "silent"; }
    /* A cause, or at least that the result is wrong. */
    [[nodiscard]] bool has_something_to_tell() const {
        return !is_healthy() && !cause.empty() && (cause != "unknown" || is_silent());
    }
    /* Whenever it was written. */
    [[nodiscard]] bool says_the_same_as(const DiagnosisState& other) const {
        return cause == other.cause && family == other.family && confidence == other.confidence &&
               end == other.end && initiators == other.initiators;
    }
};

/* diagnosis.json of the report directory; nothing when there is none about this step. It is the user's. */
std::optional<DiagnosisState> read_diagnosis_state(const harvest::StepDescription& step);

/* The diagnosis stands although there is newer evidence: makes the notice, for which srun waits, as new. */
void confirm_diagnosis(const harvest::StepDescription& step);

/* Adds a line to the step's report and notice, which srun prints anew at its end when it has changed. A later
 * diagnosis replaces both. */
void note_in_report(const harvest::StepDescription& step, const std::string& text);

/* True when diagnosis.json of the report directory is about this step and says that it hangs, crashed or
 * exited (field "end" of configs/schemas/diagnosis.schema.json). A step that is slow, healthy or unknown may
 * turn out otherwise. */
bool is_diagnosed_for_good(const harvest::StepDescription& step);

}  // namespace inquest::watch

#endif
