/* inquestd: watches the steps of one node. See docs/man/inquestd.8.md. */
#include <syslog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "inquest_paths.h"
#include "spank/format/step_journal.h"
#include "spank/watch/core.h"
#include "spank/watch/exit_status.h"

namespace inquest::watch {
namespace {

struct Options {
    bool foreground = false;
    CoreOptions core{
        INQUEST_RUN_DIRECTORY, {INQUEST_PATH_ANALYZER, INQUEST_SCANCEL, {}}, INQUEST_PATH_EPILOG};
};

ExitStatus serve(const Options& options) {
    openlog("inquestd", LOG_PID | (options.foreground ? LOG_PERROR : 0), LOG_DAEMON);
    if (geteuid() != options.core.trusted_uid) {
        syslog(LOG_ERR, "must run as root");
        return ExitStatus::cannot_listen;
    }
    Core core(options.core);
    if (auto started = core.start(); !started) {
        syslog(LOG_ERR, "%s", started.error().c_str());
        return ExitStatus::cannot_listen;
    }
    syslog(LOG_INFO, "inquestd %s listens in %s", INQUEST_VERSION_TEXT, options.core.run_directory.c_str());
    core.run();
    return ExitStatus::ok;
}

ExitStatus parse_and_serve(int argc, char** argv) {
    Options options;
    CLI::App app("Watches the Slurm steps of this node for Inquest");
    app.add_flag("--foreground", options.foreground, "stay in the foreground and log to standard error too");
    app.add_option("--analyzer", options.core.programs.analyzer, "program that analyses evidence")
        ->capture_default_str();
    app.add_option("--field", options.core.record_field,
                   "field of the job record for the line of a running job: admin, system or comment")
        ->check(CLI::IsMember({"admin", "system", "comment"}))
        ->capture_default_str();
    app.set_version_flag("--version", INQUEST_VERSION_TEXT);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ExitStatus::ok : ExitStatus::usage;
    }
    if (const char* slurm_conf = getenv("SLURM_CONF")) options.core.programs.slurm_conf = slurm_conf;
    if (!options.foreground && daemon(0, 0) != 0) return ExitStatus::internal_error;
    return serve(options);
}

}  // namespace
}  // namespace inquest::watch

int main(int argc, char** argv) {
    try {
        return static_cast<int>(inquest::watch::parse_and_serve(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "inquestd: %s\n", error.what());
        return static_cast<int>(inquest::watch::ExitStatus::internal_error);
    }
}
