// The subcommands. Each adds itself to the parser; the returned function runs it when it was chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "analyzer/cli/exit_status.h"

namespace inquest::cli {

using Command = std::function<ExitStatus()>;

Command add_analyze(CLI::App& app);
Command add_show(CLI::App& app);
Command add_explain(CLI::App& app);
Command add_doctor(CLI::App& app);

// Parses the command line and runs the chosen subcommand. Never throws.
int run(int argc, char** argv);

}  // namespace inquest::cli
