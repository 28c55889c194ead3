#include "analyzer/cli/find_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <vector>

#include "analyzer/cli/program_output.h"

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;
constexpr size_t kJobMaxBytes = 20;

// Standard output of `sacct -n -P -X -j JOB -o workdir,admincomment` (sacct(1)); empty when there is no
// Slurm.
std::string ask_sacct(const std::string& job) {
    const auto answer = run_program({"sacct", "-n", "-P", "-X", "-j", job, "-o", "workdir,admincomment"});
    return answer ? answer->text : "";
}

// The record line ends in "report PATH" (docs/architecture.md).
std::optional<std::string> path_in_record(const std::string& record) {
    constexpr std::string_view kLabel = "report ";
    const size_t at = record.rfind(kLabel);
    if (record.rfind("inquest 1: ", 0) != 0 || at == std::string::npos) return std::nullopt;
    const size_t begin = at + kLabel.size();
    return record.substr(begin, record.find_first_of(";\n", begin) - begin);
}

std::vector<std::string> candidates_of_slurm(const std::string& job) {
    const std::string answer = ask_sacct(job);
    const std::string line = answer.substr(0, answer.find('\n'));
    const size_t bar = line.find('|');
    std::vector<std::string> candidates;
    if (bar == std::string::npos) return candidates;
    if (const auto path = path_in_record(line.substr(bar + 1))) candidates.push_back(*path);
    candidates.push_back(fmt::format("{}/inquest-{}", line.substr(0, bar), job));
    return candidates;
}

bool holds_report(const std::string& directory) {
    std::error_code error;
    return fs::is_regular_file(fs::path(directory) / "report.txt", error);
}

}  // namespace

bool is_job_number(const std::string& text) {
    return !text.empty() && text.size() <= kJobMaxBytes &&
           std::all_of(text.begin(), text.end(),
                       [](unsigned char byte) { return std::isdigit(byte) != 0 || byte == '_'; });
}

tl::expected<std::string, std::string> find_report_directory(const std::string& job,
                                                             const std::string& directory) {
    const std::string base = directory.empty() ? "." : directory;
    std::vector<std::string> tried = {fmt::format("{}/inquest-{}", base, job)};
    if (holds_report(tried.front())) return tried.front();
    for (std::string& candidate : candidates_of_slurm(job)) {
        const fs::path path(candidate);
        const std::string folder = path.filename() == "report.txt" ? path.parent_path().string() : candidate;
        if (holds_report(folder)) return folder;
        tried.push_back(folder);
    }
    return tl::unexpected(fmt::format("no report of job {} in {}", job, fmt::join(tried, ", ")));
}

}  // namespace inquest::cli
