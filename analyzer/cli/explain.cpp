#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/explain_settings.h"
#include "analyzer/cli/knowledge_directory.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/report/explain.h"

namespace inquest::cli {
namespace {

struct Options {
    std::string cause;
    std::string job;
    std::string knowledge;
    std::string directory;
    std::string launch;
};

constexpr const char* kSettings = "settings";

ExitStatus explain_cause(const Options& options) {
    const auto knowledge = knowledge::load_knowledge(knowledge_directory(options.knowledge));
    if (!knowledge) {
        fmt::print(stderr,
                   "inquest explain: {}\nName the directory of the knowledge base with --knowledge DIR.\n",
                   knowledge.error().describe());
        return ExitStatus::kUsage;
    }
    const knowledge::Cause* cause = knowledge->find(options.cause);
    if (cause != nullptr) {
        fmt::print("{}", report::render_explanation(*cause));
        return ExitStatus::kHealthy;
    }
    fmt::print(stderr, "inquest explain: no cause '{}'. Known causes:\n", options.cause);
    for (const knowledge::Cause& known : knowledge->causes)
        fmt::print(stderr, "  {}\n", known.id);
    return ExitStatus::kUsage;
}

ExitStatus explain(const Options& options) {
    if (options.cause == kSettings) return explain_settings(options.job, options.directory, options.launch);
    return explain_cause(options);
}

}  // namespace

Command add_explain(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("explain", "Print what is known about a cause, or what Inquest sets");
    command
        ->add_option("CAUSE", options->cause, "Identifier of the cause, as a diagnosis names it, or settings")
        ->required();
    command->add_option("JOB", options->job, "After settings: job number, to see what became of them there");
    command->add_option("--dir", options->directory, "Directory that holds inquest-JOB");
    command->add_option("--launch", options->launch,
                        "inquest-launch, where it is not in its installed place");
    command->add_option("--knowledge", options->knowledge, "Directory of the knowledge base");
    command->footer(
        "EXAMPLES\n  inquest explain CAUSE\n  inquest explain settings\n  inquest explain settings 4711\n"
        "\nEXIT STATUS\n  0 printed, 2 no such cause, 3 no settings or no report found\n");
    return [options] { return explain(*options); };
}

}  // namespace inquest::cli
