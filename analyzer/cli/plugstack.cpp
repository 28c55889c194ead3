// Finds the plugin's line in Slurm's plugstack.conf (spank(7)).
#include <fmt/format.h>
#include <glob.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "analyzer/cli/health.h"
#include "analyzer/cli/program_output.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPart = "plugstack.conf";
constexpr const char* kUsualPath = "/etc/slurm/plugstack.conf";
constexpr const char* kPluginFile = "spank_inquest.so";
constexpr int kIncludeDepth = 4;

// `scontrol show config` has a line "PlugStackConfig = PATH".
std::string path_from_slurm() {
    const auto output = run_program({"scontrol", "show", "config"});
    std::istringstream lines(output ? output->text : "");
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::string equals;
        std::string path;
        if (words >> name >> equals >> path && name == "PlugStackConfig" && path.front() == '/') return path;
    }
    return kUsualPath;
}

std::vector<std::string> expand(const fs::path& pattern, const fs::path& folder) {
    std::vector<std::string> paths;
    const std::string absolute = (folder / pattern).string();
    glob_t found{};
    if (glob(absolute.c_str(), 0, nullptr, &found) == 0)
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return paths;
}

std::optional<std::string> find_line(const std::string& path, int depth);

// A line is "required|optional PLUGIN ARGUMENTS" or "include PATTERN".
std::optional<std::string> match(const std::string& line, const std::string& path, int depth) {
    std::istringstream words(line);
    std::string kind;
    std::string file;
    words >> kind >> file;
    if ((kind == "optional" || kind == "required") && fs::path(file).filename() == kPluginFile)
        return path + ": " + line;
    if (kind != "include" || depth == 0) return std::nullopt;
    for (const std::string& included : expand(file, fs::path(path).parent_path())) {
        if (auto found = find_line(included, depth - 1)) return found;
    }
    return std::nullopt;
}

std::optional<std::string> find_line(const std::string& path, int depth) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (auto found = match(line, path, depth)) return found;
    }
    return std::nullopt;
}

}  // namespace

Health check_plugstack(const std::string& path) {
    const std::string start = path.empty() ? path_from_slurm() : path;
    const auto found = find_line(start, kIncludeDepth);
    if (!found) {
        return {Verdict::kBad, kPart,
                fmt::format("no line for {} in {}; add \"optional {}\" on login and compute nodes",
                            kPluginFile, start, INQUEST_PATH_PLUGIN)};
    }
    const bool required = found->find(": required") != std::string::npos;
    return required
               ? Health{Verdict::kNote, kPart, *found + "; write optional, so that jobs start without it too"}
               : Health{Verdict::kGood, kPart, *found};
}

}  // namespace inquest::cli
