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

}  // namespace

void record_live(const JobEndPaths& paths, const LiveStep& live, RecordField field, Deadline deadline) {
    const std::vector<JobStep> steps = read_job_steps(paths.run_directory + "/steps", live.job_id);
    const JobStep* step = find_step(steps, live.name);
    DiagnosisFields fields{};
    if (step == nullptr || !read_fields_as_user(*step, deadline, fields)) return;
    const harvest::StepDescription& description = step->journal.step;
    const auto line = render_record_line(
        fields, record_context(paths, expand_hostlist(description.nodes), description.report_directory));
    if (!line) return;
    const StoreOutcome outcome =
        store_in_running_job({{}, live.job_id, field, step->started_wall_s, true, *line}, deadline);
    if (outcome != StoreOutcome::kStored)
        syslog(LOG_WARNING, "job %u: record line while it runs: %s", live.job_id, describe(outcome));
}

}  // namespace inquest::epilog
