// Loads one file of configs/knowledge/<family>/.
#pragma once
#include <string>
#include <tl/expected.hpp>

#include "analyzer/knowledge/cause.h"
#include "analyzer/knowledge/load_error.h"

namespace inquest::knowledge {

// `file` is the path to read; `shown_as` names it in errors and notes. Never throws.
tl::expected<Cause, LoadError> load_cause(const std::string& file, const std::string& shown_as);

// The same for a text at hand. Never throws.
tl::expected<Cause, LoadError> parse_cause(const std::string& yaml, const std::string& shown_as);

}  // namespace inquest::knowledge
