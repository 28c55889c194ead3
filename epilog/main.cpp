/* inquest-epilog: docs/man/inquest-epilog.8.md. */
#include <signal.h>
#include <syslog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "epilog/cleanup.h"
#include "epilog/job_end.h"
#include "epilog/journals.h"
#include "epilog/live.h"
#include "inquest_paths.h"
#include "spank/format/step_journal.h"

namespace {

using namespace inquest::epilog;

/* A status other than 0 would make slurmd drain the node, so the epilog of a job has no other. */
enum ExitStatus { kOk = 0, kLinesLeft = 1 };

constexpr auto kDeadline = std::chrono::seconds(20);
constexpr auto kFlushDeadline = std::chrono::seconds(60);
constexpr auto kLiveDeadline = std::chrono::seconds(15);
constexpr auto kRetryDeadline = std::chrono::seconds(4);
constexpr unsigned kLastResortSeconds = 28;

struct Options {
    bool flush = false;
    std::vector<std::string> live; /* job and step */
    std::string field = "admin";
};

[[noreturn]] void leave(int) {
    _exit(kOk);
}

/* Whatever blocks this process itself, slurmd gets its answer. */
void arm_last_resort() {
    struct sigaction action {};
    action.sa_handler = leave;
    sigaction(SIGALRM, &action, nullptr);
    alarm(kLastResortSeconds);
}

JobEndPaths installed_paths() {
    return {INQUEST_RUN_DIRECTORY, INQUEST_DAEMON_SOCKET, INQUEST_PATH_SPOOL, INQUEST_PATH_ANALYZER,
            INQUEST_PATH_KNOWLEDGE};
}

void end_job_in_child(const Job& job, RecordField field) {
    const Deadline deadline = Deadline::after(kDeadline);
    const JobEndPaths paths = installed_paths();
    run_in_child(deadline, 0, [&](int) {
        end_job(paths, job, field, deadline.keep(std::chrono::milliseconds(500)));
        return kOk;
    });
}

/* Lines that earlier jobs left. */
void retry_spool() {
    const Spool spool(INQUEST_PATH_SPOOL);
    if (!spool.begin_attempt()) return;
    const Deadline deadline = Deadline::after(kRetryDeadline);
    run_in_child(deadline, 0, [&](int) {
        flush_spool(spool, deadline);
        return kOk;
    });
}

int run_epilog(RecordField field) {
    arm_last_resort();
    const auto job = read_job(getenv);
    if (!job) {
        syslog(LOG_WARNING, "no job in the environment: to be run by slurmd as Epilog");
        return kOk;
    }
    if (!names_of_job(INQUEST_STEPS_DIRECTORY, job->job_id).empty()) end_job_in_child(*job, field);
    const int left = remove_job_traces(INQUEST_RUN_DIRECTORY, job->job_id);
    if (left > 0)
        syslog(LOG_WARNING, "job %u: %d things stay under " INQUEST_RUN_DIRECTORY, job->job_id, left);
    retry_spool();
    return kOk;
}

/* Of a job that runs, for inquestd. */
int run_live(const Options& options, RecordField field) {
    arm_last_resort();
    std::uint32_t job_id = 0;
    const std::string& job = options.live.front();
    const auto [stop, error] = std::from_chars(job.data(), job.data() + job.size(), job_id);
    if (error != std::errc{} || stop != job.data() + job.size() || job_id == 0) {
        syslog(LOG_ERR, "--live: no number of a job");
        return kOk;
    }
    record_live(installed_paths(), {job_id, options.live.back()}, field, Deadline::after(kLiveDeadline));
    return kOk;
}

int run_flush() {
    const Spool spool(INQUEST_PATH_SPOOL);
    return flush_spool(spool, Deadline::after(kFlushDeadline)) == 0 ? kOk : kLinesLeft;
}

void add_options(CLI::App& app, Options& options) {
    app.add_flag("--flush", options.flush, "send record lines that wait in the spool, and nothing else");
    app.add_option("--live", options.live,
                   "JOB STEP: put the diagnosis of a running step into the record, for inquestd")
        ->expected(2);
    app.add_option("--field", options.field, "field of the job record: admin, system or comment");
    app.set_version_flag("--version", INQUEST_VERSION_TEXT);
}

int run(int argc, char** argv) {
    openlog("inquest-epilog", LOG_PID, LOG_DAEMON);
    Options options;
    CLI::App app("Ends a job for Inquest: evidence, diagnosis, job record. Run by slurmd as Epilog.");
    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        syslog(LOG_ERR, "%s: the defaults are used", error.what());
    }
    RecordField field = RecordField::kAdminComment;
    if (!parse_field(options.field, field)) syslog(LOG_ERR, "--field: admin is used");
    if (!options.live.empty()) return run_live(options, field);
    return options.flush ? run_flush() : run_epilog(field);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (...) {
        return kOk;
    }
}
