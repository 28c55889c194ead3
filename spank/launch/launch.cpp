#include "spank/launch/launch.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <cstdio>

#include "inquest_paths.h"
#include "spank/launch/decision.h"
#include "spank/launch/records.h"

namespace inquest::launch {
namespace {

struct Arguments {
    Request request;
    std::string configuration_path = INQUEST_PATH_SITE_CONFIG;
    std::string profile_directory = INQUEST_PATH_PROFILES;
};

std::string working_directory() {
    char path[PATH_MAX];
    return getcwd(path, sizeof path) == nullptr ? "" : path;
}

void declare(CLI::App& app, Arguments& arguments) {
    app.add_option("--job", arguments.request.job_id, "job id")->required();
    app.add_option("--step", arguments.request.step, "step: a number or \"batch\"")->required();
    app.add_option("--stall", arguments.request.stall_seconds, "stall time in seconds")
        ->check(CLI::Range(kStallMinSeconds, kStallMaxSeconds));
    app.add_option("--dir", arguments.request.directory, "where inquest-<job> is made");
    app.add_option("--config", arguments.configuration_path, "site configuration");
    app.add_option("--profiles", arguments.profile_directory, "directory of the profiles");
}

/* Defaults stand in for what cannot be read; `ret_notes` says so for the debug output. */
DecisionInputs gather(const Arguments& arguments, const char* const* environment, std::string& ret_notes) {
    auto site = read_site_configuration(arguments.configuration_path);
    SiteConfiguration configuration = site ? *site : SiteConfiguration{};
    auto profile = read_profile(arguments.profile_directory + "/" + configuration.profile + ".yaml");
    ret_notes = (site ? "" : "inquest-launch: " + site.error() + "\n") +
                (profile ? "" : "inquest-launch: " + profile.error() + "\n");
    return {.request = arguments.request,
            .site = configuration,
            .profile = profile ? *profile : Profile{},
            .installation = {.library = INQUEST_PATH_LIBRARY, .python_directory = INQUEST_PATH_PYTHON},
            .environment = environment_from(environment)};
}

bool write_all(const std::string& bytes, std::FILE* stream) {
    return std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size() && std::fflush(stream) == 0;
}

ExitStatus answer(const Arguments& arguments, const char* const* environment) {
    std::string notes;
    DecisionInputs inputs = gather(arguments, environment, notes);
    Decision decision = decide(inputs);
    if (inputs.environment.count("INQUEST_LAUNCH_DEBUG") != 0) {
        (void)write_all(notes + to_text(decision), stderr);
    }
    return write_all(to_records(decision), stdout) ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

ExitStatus run_launch(int argument_count, const char* const* arguments, const char* const* environment) {
    CLI::App app("Decides what Inquest sets in a step's environment.", "inquest-launch");
    Arguments parsed;
    parsed.request.working_directory = working_directory();
    declare(app, parsed);
    try {
        app.parse(argument_count, arguments);
        return answer(parsed, environment);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ExitStatus::kDone : ExitStatus::kUsage;
    } catch (const std::exception&) {
        return ExitStatus::kFailed;
    }
}

}  // namespace inquest::launch
