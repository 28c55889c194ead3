#include "analyzer/cli/find_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

extern char** environ;

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;
constexpr size_t kAnswerMaxBytes = size_t{64} * 1024;

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = read(descriptor, buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<size_t>(got));
        if (text.size() > kAnswerMaxBytes) break;
    }
    return text;
}

// Standard output of `sacct -n -P -X -j JOB -o workdir,admincomment` (sacct(1)); empty when there is no
// Slurm.
std::string ask_sacct(const std::string& job) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words = {"sacct", "-n", "-P", "-X", "-j", job, "-o", "workdir,admincomment"};
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "sacct", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string answer;
    if (failed == 0) {
        answer = read_all(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    return answer;
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
