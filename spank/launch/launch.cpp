#include "spank/launch/launch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "inquest_paths.h"
#include "spank/launch/decision.h"
#include "spank/launch/printable.h"
#include "spank/launch/records.h"
#include "spank/launch/settings_text.h"

namespace inquest::launch {
namespace {

struct Arguments {
    Request request;
    bool check = false;
    bool explain = false;
    std::optional<std::vector<std::string>> injected;
    std::vector<std::string> left_alone;
    std::string configuration_path = INQUEST_PATH_SITE_CONFIG;
    std::string settings_directory = INQUEST_PATH_SETTINGS;
};

std::string working_directory() {
    char path[PATH_MAX];
    return getcwd(path, sizeof path) == nullptr ? "" : path;
}

template <size_t kCount>
CLI::Validator one_of(const std::array<std::string_view, kCount>& words) {
    return CLI::IsMember(std::vector<std::string>(words.begin(), words.end()));
}

void declare_request(CLI::App& app, Request& request) {
    app.add_option("--job", request.job_id, "job id");
    app.add_option("--step", request.step, "step: a number, \"batch\" or \"interactive\"");
    app.add_flag("--off", request.off, "only take away what an enclosing armed step had set");
    app.add_option("--stall", request.stall_seconds, "stall time in seconds")
        ->check(CLI::Range(kStallMinSeconds, kStallMaxSeconds));
    app.add_option("--dir", request.directory, "where inquest-<job> is made");
    app.add_option("--profile", request.profile, "how much is recorded")->check(one_of(kProfiles));
    app.add_option("--deterministic", request.deterministic, "deterministic mode")
        ->check(one_of(kDeterministicModes));
    app.add_option("--seed", request.seed, "common seed");
    app.add_option("--nccl-debug", request.nccl_debug, "level of NCCL's messages")
        ->check(one_of(kNcclDebugLevels));
    app.add_option("--timeout", request.timeout_seconds, "time limit of a collective in seconds")
        ->check(CLI::Range(kTimeoutMinSeconds, kTimeoutMaxSeconds));
    app.add_option("--on-divergence", request.on_divergence, "what a certain divergence causes")
        ->check(one_of(kDivergenceActions));
}

void declare(CLI::App& app, Arguments& arguments) {
    declare_request(app, arguments.request);
    app.add_flag("--check", arguments.check, "only check configuration and settings");
    app.add_flag("--explain", arguments.explain, "only print the settings");
    app.add_option("--injected", arguments.injected, "with --explain: names that a step was given")
        ->delimiter(',');
    app.add_option("--left-alone", arguments.left_alone, "with --explain: names that the user had set")
        ->delimiter(',');
    app.add_option("--config", arguments.configuration_path, "site configuration");
    app.add_option("--settings", arguments.settings_directory, "directory of the settings");
}

bool write_all(const std::string& bytes, std::FILE* stream) {
    return std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size() && std::fflush(stream) == 0;
}

ExitStatus status_of(bool written) {
    return written ? ExitStatus::kDone : ExitStatus::kFailed;
}

bool exists(const std::string& path) {
    struct stat status = {};
    return lstat(path.c_str(), &status) == 0;
}

/* Without settings nothing is decided, rather than half of it. */
Decision decision_for(const Arguments& arguments, const SiteConfiguration& site,
                      const char* const* environment) {
    Environment variables = environment_from(environment);
    const Parameters parameters = parameters_of(arguments.request, site);
    const bool is_nested =
        variables.count("INQUEST_INJECTED") != 0; /* what is taken away may be of any file */
    auto settings = read_settings(arguments.settings_directory, [&](const std::string& file_name) {
        return is_nested || may_apply(file_name, parameters);
    });
    if (!settings) {
        return {.assignments = {}, .disarmed = "the settings cannot be read: " + settings.error()};
    }
    return decide({.request = arguments.request,
                   .site = site,
                   .settings = *settings,
                   .installation = {.library = INQUEST_PATH_LIBRARY, .python_directory = INQUEST_PATH_PYTHON},
                   .environment = std::move(variables),
                   .is_taken = exists});
}

std::string lines_of(const std::vector<Finding>& findings) {
    std::string lines;
    for (const Finding& finding : findings) {
        lines += to_text(finding) + "\n";
    }
    return lines;
}

/* What cannot be read or understood keeps its default and is told only for debugging: `inquest doctor` is for
 * the administrator, a job is not troubled. */
ExitStatus answer(const Arguments& arguments, const char* const* environment) {
    if (arguments.request.job_id == 0 || arguments.request.step.empty()) {
        (void)write_all("inquest-launch: write --job and --step\n", stderr);
        return ExitStatus::kUsage;
    }
    SiteReading reading = read_site_configuration(arguments.configuration_path);
    Decision decision = decision_for(arguments, reading.site, environment);
    if (std::getenv("INQUEST_LAUNCH_DEBUG") != nullptr) {
        (void)write_all(lines_of(reading.findings) + to_text(decision), stderr);
    }
    return status_of(write_all(to_records(decision), stdout));
}

/* One line for each finding; kFailed when there are any. */
ExitStatus check(const Arguments& arguments) {
    std::string lines = lines_of(read_site_configuration(arguments.configuration_path).findings);
    if (auto settings = read_settings(arguments.settings_directory); !settings) {
        lines += printable(settings.error()) + "\n";
    }
    return status_of(write_all(lines, stdout) && lines.empty());
}

ExitStatus explain(const Arguments& arguments) {
    auto settings = read_settings(arguments.settings_directory);
    if (!settings) {
        (void)write_all("inquest-launch: " + settings.error() + "\n", stderr);
        return ExitStatus::kFailed;
    }
    std::optional<StepNames> step;
    if (arguments.injected) {
        step = {.injected = *arguments.injected, .left_alone = arguments.left_alone};
    }
    return status_of(write_all(settings_text(*settings, step), stdout));
}

ExitStatus run_parsed(const Arguments& arguments, const char* const* environment) {
    if (arguments.check) {
        return check(arguments);
    }
    return arguments.explain ? explain(arguments) : answer(arguments, environment);
}

}  // namespace

ExitStatus run_launch(int argument_count, const char* const* arguments, const char* const* environment) {
    CLI::App app("Decides what Inquest sets in a step's environment.", "inquest-launch");
    Arguments parsed;
    parsed.request.working_directory = working_directory();
    declare(app, parsed);
    try {
        app.parse(argument_count, arguments);
        return run_parsed(parsed, environment);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ExitStatus::kDone : ExitStatus::kUsage;
    } catch (const std::exception&) {
        return ExitStatus::kFailed;
    }
}

}  // namespace inquest::launch
