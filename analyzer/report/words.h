// Words and lines that the renderers share.
#pragma once
#include <string>
#include <vector>

#include "analyzer/model/diagnosis.h"

namespace inquest::report {

const char* confidence_name(model::Confidence confidence);

// "2026-03-01T04:01:29.510593654Z"; empty for an unknown time.
std::string time_text(model::WallNs wall_ns);

// "FILE:LINE" with the path as the program knows it; empty when unknown.
std::string place_text(const model::Place& place);

// "job 4711 step 0", "this job" when the evidence does not say.
std::string job_text(const model::Diagnosis& diagnosis);

// Parties with the same reason, node and place in one line: "ranks 0, 1, 3: waits in ...".
std::vector<std::string> party_lines(const std::vector<model::Party>& parties);

// Breaks at blanks; every line but the first starts with `indent` blanks. Words longer than a line stay
// whole.
std::string wrap(const std::string& text, size_t columns, size_t indent);

// Exactly at most `columns` characters, "..." at the end when cut.
std::string cut(const std::string& text, size_t columns);

}  // namespace inquest::report
