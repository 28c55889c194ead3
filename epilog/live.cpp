#include "epilog/live.h"

#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "epilog/analysis.h"
#include "epilog/hostlist.h"
#include "epilog/journals.h"
#include "epilog/record_store.h"

namespace inquest::epilog {
namespace {

constexpr auto kReadTime = std::chrono::milliseconds(5000);

bool read_fields_as_user(const JobStep& step, Deadline deadline, DiagnosisFields& fields) {
    const harvest::StepDescription& description = step.journal.step;
    const UserIdentity user{description.uid, description.gid};
    const ChildResult child =
        run_as_user(user, deadline.at_most(kReadTime), sizeof fields, [&](int output_fd) {
            DiagnosisFields found{};
            if (!read_step_diagnosis(description, found)) return 1;
            return write(output_fd, &found, sizeof found) == sizeof found ? 0 : 1;
        });
    if (child.output.size() != sizeof fields) return false;
    std::memcpy(&fields, child.output.data(), sizeof fields);
    return true;
}

const JobStep* find_step(const std::vector<JobStep>& steps, const std::string& name) {
    const auto found =
        std::find_if(steps.begin(), steps.end(), [&](const JobStep& step) { return step.name == name; });
    return found == steps.end() ? nullptr : &*found;
}

/* Empty where the diagnosis has nothing to tell: then an earlier one that had holds no more. */
std::string line_about(const JobEndPaths& paths, const harvest::StepDescription& step,
                       const DiagnosisFields& fields) {
    if (bounded_text(fields.cause) == kCauseUnknown && fields.is_silent != 1) return {};
    return render_record_line(fields,
                              record_context(paths, expand_hostlist(step.nodes), step.report_directory))
        .value_or("");
}

}  // namespace

void record_live(const JobEndPaths& paths, const LiveStep& live, RecordField field, Deadline deadline) {
    const std::vector<JobStep> steps = read_job_steps(paths.run_directory + "/steps", live.job_id);
    const JobStep* step = find_step(steps, live.name);
    if (step == nullptr) return;
    const harvest::StepDescription& description = step->journal.step;
    DiagnosisFields fields{};
    const bool is_diagnosed = read_fields_as_user(*step, deadline, fields);
    if (!is_diagnosed && !harvest::is_of_restarted_job(description)) return;
    const std::string line = is_diagnosed ? line_about(paths, description, fields) : std::string();
    const StoreOutcome outcome = store_in_running_job(
        {{}, live.job_id, field, step->started_wall_s, is_diagnosed, line, report_names(steps)}, deadline);
    if (outcome != StoreOutcome::kStored && !line.empty())
        syslog(LOG_WARNING, "job %u: record line while it runs: %s", live.job_id, describe(outcome));
}

}  // namespace inquest::epilog
