#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/find_report.h"

namespace inquest::cli {
namespace {

struct Options {
    std::string job;
    bool json = false;
    std::string directory;
};

ExitStatus show(const Options& options) {
    if (!is_job_number(options.job)) {
        fmt::print(stderr,
                   "inquest show: '{}' is not a job number\nGive a number as squeue and sacct print it.\n",
                   options.job);
        return ExitStatus::kUsage;
    }
    const auto directory = find_report_directory(options.job, options.directory);
    if (!directory) {
        fmt::print(stderr,
                   "inquest show: {}\nA healthy job leaves no report. Otherwise go to the job's working "
                   "directory, or "
                   "name the directory that holds inquest-{} with --dir.\n",
                   directory.error(), options.job);
        return ExitStatus::kNothingReadable;
    }
    std::ifstream file(*directory + (options.json ? "/diagnosis.json" : "/report.txt"), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) {
        fmt::print(stderr, "inquest show: {} cannot be read\nOnly the job's owner may read its report.\n",
                   *directory);
        return ExitStatus::kNothingReadable;
    }
    fmt::print("{}", text);
    return ExitStatus::kHealthy;
}

}  // namespace

Command add_show(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("show", "Print the report of a job");
    command->add_option("JOB", options->job, "Job number")->required();
    command->add_flag("--json", options->json, "Print the diagnosis as JSON");
    command->add_option("--dir", options->directory, "Directory that holds inquest-JOB");
    command->footer(
        "EXAMPLES\n  inquest show 4711\n  inquest show 4711 --dir /home/ada/run\n"
        "\nEXIT STATUS\n  0 printed, 2 wrong usage, 3 no report found\n");
    return [options] { return show(*options); };
}

}  // namespace inquest::cli
