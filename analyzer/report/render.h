// A diagnosis as JSON, as a report for people and as the short notice. All three are pure and deterministic
// and expect a diagnosis that has gone through make_safe().
#pragma once
#include <string>

#include "analyzer/model/diagnosis.h"

namespace inquest::report {

// configs/schemas/diagnosis.schema.json, pretty-printed, with a final line break.
std::string render_json(const model::Diagnosis& diagnosis);

// Everything that a diagnosis holds, for a terminal of 100 columns.
std::string render_text(const model::Diagnosis& diagnosis);

// At most 12 lines of 120 columns. `report_path` is the full report; empty: not written.
std::string render_notice(const model::Diagnosis& diagnosis, const std::string& report_path);

}  // namespace inquest::report
