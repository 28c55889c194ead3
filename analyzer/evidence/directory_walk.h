// Visits the regular files below a directory in the order of their names. Follows no link, enters no device,
// and is bounded in depth and in the number of files.
#pragma once
#include <functional>
#include <string>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"

namespace inquest::evidence {

// `folder` is relative to the top ("" for the top itself); `name` can be opened at `directory_fd`.
using FileVisitor = std::function<void(int directory_fd, const std::string& folder, const std::string& name)>;

// Hidden files and files that end in ".tmp" (being written) are left out.
void walk_directory(int top_fd, const Limits& limits, Notes& notes, const FileVisitor& visit);

}  // namespace inquest::evidence
