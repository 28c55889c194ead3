/* Runs the analyzer over a step's evidence and reads what it found. Runs as the user. */
#pragma once

#include <string>

#include "epilog/deadline.h"
#include "epilog/diagnosis_fields.h"
#include "spank/harvest/step_description.h"

namespace inquest::epilog {

/* `inquest analyze <report>/evidence/<step> --report <report>`, then diagnosis.json. When the analyzer fails
 * or does not end in time, a diagnosis of this step that the lead wrote earlier counts. False when there is
 * none. */
bool analyse_step(const std::string& analyzer, const harvest::StepDescription& step, Deadline deadline,
                  DiagnosisFields& fields);

/* The diagnosis as it stands. False when there is none about this step. */
bool read_step_diagnosis(const harvest::StepDescription& step, DiagnosisFields& fields);

}  // namespace inquest::epilog
