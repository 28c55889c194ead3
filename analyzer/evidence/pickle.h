// A pickle reader that can only build None, bool, int, float, str, bytes, list, tuple and dict.
//
// Reads what torch::jit::Pickler (protocol 2, tag_aggregates off) and Python's pickle.dump (protocols 2 to 5)
// emit for such values; the opcodes are those of CPython's Lib/pickletools.py. Anything that would import a
// name or call something stops the reader: nothing is ever executed. Time and memory are linear in the input;
// there is no recursion, so no input can exhaust the stack.
#pragma once
#include <string_view>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/value_tree.h"

namespace inquest::evidence {

bool looks_like_pickle(std::string_view bytes);

// `bytes` must outlive the document. A pickle that stops early (the writer was killed) gives everything that
// was complete by then, and `damage`.
Document read_pickle(std::string_view bytes, const Limits& limits);

}  // namespace inquest::evidence
