#include "analyzer/cli/explain_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "analyzer/cli/find_report.h"
#include "analyzer/cli/program_output.h"
#include "analyzer/evidence/node_json.h"
#include "analyzer/evidence/text.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;

struct StepNames {
    std::string step;
    std::set<std::string> injected;
    std::set<std::string> left_alone;
    size_t nodes = 0;
};

std::vector<fs::path> entries_of(const fs::path& directory) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
        entries.push_back(entry->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

void add_node(const fs::path& path, StepNames& names) {
    const evidence::Limits limits;
    std::error_code error;
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > limits.node_json_bytes) return;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    evidence::Notes notes;
    const auto node = evidence::read_node_json(path.string(), bytes, limits, notes);
    if (!node) return;
    names.injected.insert(node->injected.begin(), node->injected.end());
    names.left_alone.insert(node->left_alone.begin(), node->left_alone.end());
    ++names.nodes;
}

std::vector<StepNames> steps_of(const std::string& report) {
    std::vector<StepNames> steps;
    for (const fs::path& step : entries_of(fs::path(report) / "evidence")) {
        StepNames names;
        names.step = step.filename().string();
        for (const fs::path& node : entries_of(step))
            add_node(node / "node.json", names);
        if (names.nodes != 0) steps.push_back(std::move(names));
    }
    return steps;
}

ExitStatus print_settings(std::vector<std::string> words) {
    const auto output = run_program(words);
    if (output && output->exit_code == 0) {
        fmt::print("{}", output->text);
        return ExitStatus::kHealthy;
    }
    fmt::print(stderr,
               "inquest explain settings: {}\nThe settings come with the plugin: run this where it is "
               "installed, and "
               "see `inquest doctor`.\n",
               output ? fmt::format("{} failed", words.front()) : output.error());
    return ExitStatus::kNothingReadable;
}

std::string joined(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ","));
}

ExitStatus explain_step(const StepNames& names, const std::string& launch) {
    fmt::print("Step {}, from the evidence of {} node(s)\n\n", evidence::clean_text(names.step), names.nodes);
    return print_settings({launch, "--explain", "--injected=" + joined(names.injected),
                           "--left-alone=" + joined(names.left_alone)});
}

// The command line that submitted the job, from sacct(1); empty when Slurm does not know it. It is the user's
// text.
std::string submit_line(const std::string& job) {
    const auto answer = run_program({"sacct", "-n", "-P", "-X", "-j", job, "-o", "submitline"});
    const std::string text = answer ? answer->text : "";
    return evidence::clean_text(text.substr(0, text.find('\n')));
}

ExitStatus explain_nothing(const std::string& job, const std::string& why) {
    fmt::print(
        stderr,
        "inquest explain settings: {}\nA healthy job leaves nothing behind, so what job {} was given is not "
        "known any more. Print INQUEST_INJECTED and INQUEST_LEFT_ALONE in the job to keep it.\n",
        why, job);
    if (const std::string line = submit_line(job); !line.empty()) {
        fmt::print(stderr, "Slurm's accounting knows what it asked for: {}\n", line);
    }
    return ExitStatus::kNothingReadable;
}

}  // namespace

ExitStatus explain_settings(const std::string& job, const std::string& directory,
                            const std::string& launch_path) {
    const std::string launch = launch_path.empty() ? INQUEST_PATH_LAUNCH : launch_path;
    if (job.empty()) return print_settings({launch, "--explain"});
    if (!is_job_number(job)) {
        fmt::print(stderr, "inquest explain settings: '{}' is not a job number\n", job);
        return ExitStatus::kUsage;
    }
    const auto report = find_report_directory(job, directory);
    if (!report) return explain_nothing(job, report.error());
    const std::vector<StepNames> steps = steps_of(*report);
    if (steps.empty()) return explain_nothing(job, *report + " holds no evidence of a node");
    ExitStatus status = ExitStatus::kHealthy;
    for (const StepNames& names : steps) {
        if (status == ExitStatus::kHealthy) status = explain_step(names, launch);
    }
    return status;
}

}  // namespace inquest::cli
