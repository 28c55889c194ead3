#include "analyzer/cli/knowledge_directory.h"

#include <filesystem>

#include "inquest_paths.h"

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;

// build/<name>/analyzer/cli/inquest lies at most this deep below the source tree.
constexpr int kLevelsUp = 6;

}  // namespace

std::string knowledge_directory(const std::string& given) {
    if (!given.empty()) return given;
    std::error_code error;
    if (fs::is_directory(INQUEST_PATH_KNOWLEDGE, error)) return INQUEST_PATH_KNOWLEDGE;
    fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (int level = 0; level < kLevelsUp && !error; ++level, folder = folder.parent_path()) {
        const fs::path candidate = folder / "configs" / "knowledge";
        if (fs::is_directory(candidate, error)) return candidate.string();
        error.clear();
    }
    return INQUEST_PATH_KNOWLEDGE;
}

}  // namespace inquest::cli
