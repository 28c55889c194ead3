#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "analyzer/cli/commands.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

constexpr const char* kFooter =
    "EXAMPLES\n"
    "  inquest analyze job.log                 diagnose a log on a laptop\n"
    "  inquest analyze -                       the same from standard input\n"
    "  inquest analyze inquest-4711/evidence/0 diagnose what a step left behind\n"
    "  inquest show 4711                       print the report of job 4711\n"
    "  inquest explain CAUSE                   what is known about a cause\n"
    "  inquest explain settings                what Inquest sets in a job's environment\n"
    "  inquest doctor                          check the installation and the configuration\n"
    "\n"
    "EXIT STATUS of analyze\n"
    "  0 healthy, 10 diagnosed, 11 unknown, 2 wrong usage, 3 nothing readable\n";

int parse_and_run(CLI::App& app, int argc, char** argv) {
    std::vector<std::pair<CLI::App*, Command>> commands;
    for (const auto add : {add_analyze, add_show, add_explain, add_doctor}) {
        Command command = add(app);
        commands.emplace_back(app.get_subcommands({}).back(), std::move(command));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error);
        return status == 0 ? 0 : static_cast<int>(ExitStatus::kUsage);
    }
    for (const auto& [subcommand, command] : commands) {
        if (subcommand->parsed()) return static_cast<int>(command());
    }
    return static_cast<int>(ExitStatus::kUsage);
}

}  // namespace

int run(int argc, char** argv) {
    try {
        CLI::App app("Finds the rank that started the failure of a distributed training job.", "inquest");
        app.set_version_flag("--version", std::string("inquest ") + INQUEST_VERSION_TEXT);
        app.require_subcommand(1);
        app.footer(kFooter);
        return parse_and_run(app, argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "inquest: {}\n", error.what());
        return static_cast<int>(ExitStatus::kNothingReadable);
    }
}

}  // namespace inquest::cli
