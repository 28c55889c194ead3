// Reads JSON into a value tree. Bounded in depth and size.
#pragma once
#include <string_view>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/value_tree.h"

namespace inquest::evidence {

// JSON that stops early or is malformed gives everything that was complete by then, and `damage`.
Document read_json(std::string_view bytes, const Limits& limits);

}  // namespace inquest::evidence
