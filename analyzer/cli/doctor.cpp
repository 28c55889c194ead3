#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/health.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

// As in spank/format/step_journal.h, which the analyzer does not include.
constexpr const char* kDaemonSocket = "/run/inquest/inquestd.sock";

struct Options {
    std::string launch = INQUEST_PATH_LAUNCH;
    std::string plugstack;
};

const char* word_for(Verdict verdict) {
    switch (verdict) {
        case Verdict::kGood:
            return "ok";
        case Verdict::kNote:
            return "note";
        case Verdict::kBad:
            break;
    }
    return "BAD";
}

ExitStatus doctor(const Options& options) {
    std::vector<Health> lines = check_installed_parts();
    for (Health& line : check_configuration(options.launch))
        lines.push_back(std::move(line));
    lines.push_back(check_plugstack(options.plugstack));
    lines.push_back(check_daemon(kDaemonSocket));
    for (const Health& line : lines)
        fmt::print("{:4}  {:16}  {}\n", word_for(line.verdict), line.part, line.text);
    const bool bad = std::any_of(lines.begin(), lines.end(),
                                 [](const Health& line) { return line.verdict == Verdict::kBad; });
    return bad ? ExitStatus::kDiagnosed : ExitStatus::kHealthy;
}

}  // namespace

Command add_doctor(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("doctor", "Check the installation and the site's configuration");
    command->add_option("--launch", options->launch,
                        "inquest-launch, where it is not in its installed place");
    command->add_option("--plugstack", options->plugstack,
                        "Slurm's plugstack.conf, where scontrol does not name it");
    command->footer(
        "Run it on a login node and on a compute node.\n"
        "\nEXIT STATUS\n  0 all is well, 10 at least one line is BAD, 2 wrong usage\n");
    return [options] { return doctor(*options); };
}

}  // namespace inquest::cli
