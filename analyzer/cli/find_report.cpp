#include "analyzer/cli/find_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
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

// The number behind "inquest-JOB-restart"; 0 for "inquest-JOB", the first run; nullopt for other names.
std::optional<uint32_t> run_of(const std::string& name, const std::string& job) {
    constexpr std::string_view kRestart = "-restart";
    const std::string first = "inquest-" + job;
    if (name == first) return 0;
    if (name.rfind(first + std::string(kRestart), 0) != 0) return std::nullopt;
    uint32_t number = 0;
    const char* begin = name.data() + first.size() + kRestart.size();
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool holds_report(const std::string& directory) {
    std::error_code error;
    return fs::is_regular_file(fs::path(directory) / "report.txt", error);
}

// A healthy run leaves none, so that the newest need not be of the last run.
std::optional<std::string> newest_report_in(const std::string& base, const std::string& job) {
    std::optional<std::pair<uint32_t, std::string>> newest;
    std::error_code error;
    for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const auto run = run_of(name, job);
        const std::string path = fmt::format("{}/{}", base, name);
        if (run && (!newest || *run > newest->first) && holds_report(path)) newest = {*run, path};
    }
    return newest ? std::optional(newest->second) : std::nullopt;
}

std::vector<std::string> candidates_of_slurm(const std::string& job) {
    const std::string answer = ask_sacct(job);
    const std::string line = answer.substr(0, answer.find('\n'));
    const size_t bar = line.find('|');
    std::vector<std::string> candidates;
    if (bar == std::string::npos) return candidates;
    if (const auto path = path_in_record(line.substr(bar + 1))) candidates.push_back(*path);
    if (const auto newest = newest_report_in(line.substr(0, bar), job)) candidates.push_back(*newest);
    candidates.push_back(fmt::format("{}/inquest-{}", line.substr(0, bar), job));
    return candidates;
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
    if (const auto newest = newest_report_in(base, job)) return *newest;
    std::vector<std::string> tried = {fmt::format("{}/inquest-{}", base, job)};
    for (std::string& candidate : candidates_of_slurm(job)) {
        const fs::path path(candidate);
        const std::string folder = path.filename() == "report.txt" ? path.parent_path().string() : candidate;
        if (holds_report(folder)) return folder;
        tried.push_back(folder);
    }
    return tl::unexpected(fmt::format("no report of job {} in {}", job, fmt::join(tried, ", ")));
}

}  // namespace inquest::cli
