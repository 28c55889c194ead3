#include "spank/launch/configuration_files.h"

#include <algorithm>
#include <filesystem>

namespace inquest::launch {

std::vector<std::string> yaml_files_in(const std::string& directory) {
    namespace fs = std::filesystem;
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path& path = entry->path();
        if (path.extension() == ".yaml" && path.filename().string().front() != '.') {
            paths.push_back(path.string());
        }
    }
    std::sort(paths.begin(), paths.end());
    paths.resize(std::min(paths.size(), kFilesMaxCount));
    return paths;
}

}  // namespace inquest::launch
