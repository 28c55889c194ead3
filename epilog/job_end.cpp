#include "epilog/job_end.h"

#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "epilog/daemon_client.h"
#include "epilog/harvest_steps.h"
#include "epilog/hostlist.h"
#include "epilog/record_line.h"
#include "epilog/record_store.h"
#include "epilog/report.h"

namespace inquest::epilog {
namespace {

constexpr auto kDaemonTime = std::chrono::milliseconds(7000);
constexpr auto kHarvestTime = std::chrono::milliseconds(4000);
constexpr auto kReportReserve = std::chrono::milliseconds(3500); /* for the spool and slurmdbd */
constexpr auto kStoreTime = std::chrono::milliseconds(3000);
constexpr std::size_t kMaxFlushed = 20;

void warn_about_child(const Job& job, const char* what, const ChildResult& child) {
    if (child.end == ChildEnd::kExited && child.exit_status == 0) return;
    const char* why = child.end == ChildEnd::kDeadline ? "not finished in time" : "failed";
    syslog(LOG_WARNING, "job %u: %s %s (exit status %d)", job.job_id, what, why, child.exit_status);
}

/* On a job's only node its journals say it all; of other nodes Slurm's exit codes may be the first to tell.
 */
bool may_have_failed_elsewhere(const Job& job) {
    return job.failed_somewhere && job.nodes.size() != 1;
}

void harvest_as_user(const Job& job, const std::vector<JobStep>& steps, DaemonAnswer daemon,
                     Deadline deadline) {
    const Deadline limit = deadline.at_most(kHarvestTime);
    const HarvestWish wish{may_have_failed_elsewhere(job), daemon != DaemonAnswer::kDone};
    const ChildResult child = run_as_user(job.user, limit, 0, [&](int) {
        harvest_wanted_steps(steps, wish, limit);
        return 0;
    });
    warn_about_child(job, "harvest", child);
}

bool report_as_user(const JobEndPaths& paths, const Job& job, const std::vector<JobStep>& steps,
                    Deadline deadline, ReportResult& result) {
    const Deadline limit = deadline.keep(kReportReserve);
    const ChildResult child = run_as_user(job.user, limit, sizeof result, [&](int output_fd) {
        const ReportResult found = report_job(
            {steps, job.failed_somewhere, paths.analyzer, limit.keep(std::chrono::milliseconds(200))});
        return write(output_fd, &found, sizeof found) == sizeof found ? 0 : 1;
    });
    warn_about_child(job, "report", child);
    return read_report_result(child.output, steps.size(), result);
}

/* Removes the entry from the spool unless a later attempt may do better. */
StoreOutcome send_entry(const Spool& spool, const RecordEntry& entry, Deadline deadline) {
    const StoreOutcome outcome = store_record(entry, deadline.at_most(kStoreTime));
    if (outcome != StoreOutcome::kStored) {
        syslog(LOG_WARNING, "job %u: record line: %s", entry.job_id, describe(outcome));
    }
    if (!is_worth_retrying(outcome) && !spool.remove(entry)) {
        syslog(LOG_ERR, "job %u: cannot remove the line from the spool: %m", entry.job_id);
    }
    return outcome;
}

/* The attempt counts for the whole node: should slurmdbd be down, the next epilogs do not wait for it as
 * well. */
void record(const Spool& spool, const RecordEntry& entry, Deadline deadline) {
    if (!spool.put(entry)) syslog(LOG_ERR, "job %u: cannot write to the spool: %m", entry.job_id);
    static_cast<void>(spool.begin_attempt());
    send_entry(spool, entry, deadline);
}

/* This run has nothing to say, or nothing any more. inquestd does the same while the run lasts. */
void take_lines_back(const Job& job, const std::vector<JobStep>& steps, bool own_too, RecordField field,
                     Deadline deadline) {
    const bool is_restarted = std::any_of(steps.begin(), steps.end(), [](const JobStep& step) {
        return harvest::is_of_restarted_job(step.journal.step);
    });
    if (!is_restarted && !own_too) return;
    const StoreOutcome outcome = store_record(
        {job.cluster, job.job_id, field, steps.front().started_wall_s, own_too, "", report_names(steps)},
        deadline.at_most(kStoreTime));
    if (is_worth_retrying(outcome))
        syslog(LOG_WARNING, "job %u: an earlier record line may have stayed: %s", job.job_id,
               describe(outcome));
}

/* The steps about whose record this node decides. One node does it for the whole job, so that there is one
 * line: the job's first. A step that the first node has no part in is the business of the step's own first
 * node. */
std::vector<JobStep> steps_to_report(const Job& job, std::vector<JobStep> steps) {
    if (job.nodes.empty() || job.nodes.front() == job.node) return steps;
    const auto is_others = [&](const JobStep& step) {
        const std::vector<std::string> nodes = expand_hostlist(step.journal.step.nodes);
        return step.journal.step.node_index != 0 ||
               std::find(nodes.begin(), nodes.end(), job.nodes.front()) != nodes.end();
    };
    steps.erase(std::remove_if(steps.begin(), steps.end(), is_others), steps.end());
    return steps;
}

void report_job_end(const JobEndPaths& paths, const Job& job, const std::vector<JobStep>& steps,
                    RecordField field, Deadline deadline) {
    ReportResult result{};
    if (steps.empty()) return;
    if (!report_as_user(paths, job, steps, deadline, result)) {
        /* Where a step failed, another node may have told of it. */
        const bool own_too = result.takes_back == 1 && !job.failed_somewhere;
        if (result.magic == kReportMagic) take_lines_back(job, steps, own_too, field, deadline);
        return;
    }
    const JobStep& step = steps[result.step];
    const auto line = render_record_line(
        result.fields, record_context(paths, job.nodes, step.journal.step.report_directory));
    if (!line) {
        syslog(LOG_WARNING, "job %u: the diagnosis names a cause that is not in %s", job.job_id,
               paths.knowledge.c_str());
        return;
    }
    const RecordEntry entry{job.cluster, job.job_id,         field, step.started_wall_s, step.name != "batch",
                            *line,       report_names(steps)};
    record(Spool(paths.spool), entry, deadline);
}

}  // namespace

RecordContext record_context(const JobEndPaths& paths, std::vector<std::string> nodes,
                             std::string report_directory) {
    return {std::move(nodes), std::move(report_directory),
            [&paths](std::string_view family, std::string_view cause) {
                std::string path = paths.knowledge + "/" + std::string(family);
                if (cause != kCauseUnknown) path += "/" + std::string(cause) + ".yaml";
                return access(path.c_str(), F_OK) == 0;
            }};
}

std::size_t flush_spool(const Spool& spool, Deadline deadline) {
    std::size_t given_up = 0;
    const std::vector<RecordEntry> entries = spool.next(kMaxFlushed, given_up);
    if (given_up > 0)
        syslog(LOG_WARNING, "%zu files of the spool were too old or damaged: removed", given_up);
    std::size_t left = entries.size();
    for (const RecordEntry& entry : entries) {
        const StoreOutcome outcome = send_entry(spool, entry, deadline);
        if (!is_worth_retrying(outcome)) left--;
        if (outcome == StoreOutcome::kUnavailable) break;
        static_cast<void>(spool.continue_after(entry)); /* else these are tried again */
        if (deadline.has_passed()) break;
    }
    return left;
}

void end_job(const JobEndPaths& paths, const Job& job, RecordField field, Deadline deadline) {
    std::vector<JobStep> steps = read_job_steps(paths.run_directory + "/steps", job.job_id, job.user);
    if (steps.empty()) return;
    /* Whatever the answer: what is there says what is missing. Only what nobody watched is compared anew. */
    const DaemonAnswer daemon = tell_daemon_job_end(paths.daemon_socket, job, deadline.at_most(kDaemonTime));
    harvest_as_user(job, steps, daemon, deadline);
    report_job_end(paths, job, steps_to_report(job, std::move(steps)), field, deadline);
}

}  // namespace inquest::epilog
