/* Which files make up a configuration. */
#pragma once

#include <string>
#include <vector>

namespace inquest::launch {

inline constexpr size_t kFilesMaxCount = 256;

/* Paths of the files *.yaml in a directory, sorted by name as bytes, at most kFilesMaxCount; hidden ones are
 * left out. None when the directory cannot be read. */
std::vector<std::string> yaml_files_in(const std::string& directory);

}  // namespace inquest::launch
