// Where the knowledge base is.
#pragma once
#include <string>

namespace inquest::cli {

// `given` when it is not empty; else the installed directory; else configs/knowledge above the program, as in
// a build tree. Returns the installed directory when none exists, so that the error names it.
std::string knowledge_directory(const std::string& given);

}  // namespace inquest::cli
