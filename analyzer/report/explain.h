// What the knowledge base holds about a cause, for `inquest explain`.
#pragma once
#include <string>

#include "analyzer/knowledge/cause.h"

namespace inquest::report {

std::string render_explanation(const knowledge::Cause& cause);

}  // namespace inquest::report
