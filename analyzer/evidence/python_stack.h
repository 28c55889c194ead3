// Python stacks as the standard library's faulthandler writes them (CPython, Python/traceback.c).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

// True when the first line can only be the beginning of such a file.
bool looks_like_python_stack(std::string_view prefix);

// Dumps are appended to the file; the newest one with a frame in it counts. nullopt (and a note): none.
std::optional<model::PythonStack> read_python_stack(const std::string& source, std::string_view text,
                                                    const Limits& limits, Notes& notes);

}  // namespace inquest::evidence
