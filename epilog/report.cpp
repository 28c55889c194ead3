#include "epilog/report.h"

#include <chrono>
#include <cstring>

#include "epilog/analysis.h"
#include "epilog/evidence.h"
#include "epilog/harvest_steps.h"
#include "epilog/record_line.h"
#include "spank/harvest/node_survey.h"
#include "spank/harvest/report_directory.h"

namespace inquest::epilog {
namespace {

constexpr auto kNodesTime = std::chrono::milliseconds(8000);
constexpr auto kAnalysisReserve = std::chrono::milliseconds(3000);
constexpr int kMaxAnalysedSteps = 4;

/* An analyzer that cannot tell leaves the cause unknown. */
DiagnosisFields unknown_fields() {
    DiagnosisFields fields{};
    kCauseUnknown.copy(fields.cause, sizeof fields.cause - 1);
    return fields;
}

/* The wait for nodes that do not answer is one for all steps and leaves time for the analysis. */
Deadline nodes_deadline(const ReportRequest& request) {
    return request.deadline.keep(kAnalysisReserve).at_most(kNodesTime);
}

/* Nothing but the evidence may say that such a step failed: its tasks ended with status 0 as far as anybody
 * knows. */
bool may_be_well(const JobStep& step, const ReportRequest& request, StepEnd end) {
    if (step.failed || request.failed_elsewhere) return false;
    return end == StepEnd::kDiffering || end == StepEnd::kPartlyWell || end == StepEnd::kNotKnown;
}

/* What was found when the replicas began to differ stands: by the end of a long step the black boxes have
 * overwritten what they held then. */
bool is_settled(const harvest::StepDescription& step, StepEnd end, DiagnosisFields& fields) {
    if (end == StepEnd::kCancelled) return read_step_diagnosis(step, fields);
    return end == StepEnd::kDiffering && read_step_diagnosis(step, fields) && fields.is_silent == 1;
}

/* Whether the step belongs into the record. Tasks that all ended with status 0 are well whatever was seen
 * while they ran, unless the analyzer finds that their replicas differ. The lead may have removed the
 * evidence of such a step while another node still wrote its own; then Slurm's exit codes speak for the nodes
 * whose evidence is gone. Where nothing says that a task failed, it takes a cause that has a name, or
 * replicas that differ. Any other end is a failure, also one whose cause stays unknown or that left no black
 * box.
 */
bool has_failed(const JobStep& step, const ReportRequest& request, Deadline nodes, DiagnosisFields& fields) {
    const harvest::StepDescription& description = step.journal.step;
    const StepEnd end = wait_for_nodes(description, nodes);
    const bool is_doubtful = may_be_well(step, request, end);
    if (end == StepEnd::kWell || (end == StepEnd::kPartlyWell && is_doubtful)) return false;
    if (is_settled(description, end, fields)) return true;
    if (end == StepEnd::kCancelled) return false;
    if (!analyse_step(request.analyzer, description, request.deadline, fields)) fields = unknown_fields();
    const std::string_view cause = bounded_text(fields.cause);
    return cause != kCauseHealthy && !(is_doubtful && cause == kCauseUnknown && fields.is_silent != 1);
}

void remove_reports(const std::vector<JobStep>& steps) {
    for (const JobStep& step : steps) {
        /* What cannot be removed stays for the user to look at. */
        static_cast<void>(harvest::remove_step_evidence(step.journal.step.report_directory, step.name));
    }
}

/* What inquestd told while the step ran may be in the record. */
bool seemed_to_differ(const harvest::StepDescription& step) {
    harvest::NodeSurvey survey;
    survey.update(step);
    return survey.noticed_divergence();
}

/* The first step with evidence that has something to say; nullptr when none has. `complete` tells whether
 * each of them was looked at. */
const JobStep* find_decisive_step(const ReportRequest& request, ReportResult& result, bool& complete) {
    const Deadline nodes = nodes_deadline(request);
    int looked_at = 0;
    for (const JobStep* step : by_decisiveness(request.steps)) {
        if (!has_evidence(step->journal.step)) continue;
        complete = looked_at < kMaxAnalysedSteps && !request.deadline.has_passed();
        if (!complete) return nullptr;
        looked_at++;
        if (has_failed(*step, request, nodes, result.fields)) return step;
        if (seemed_to_differ(step->journal.step)) result.takes_back = 1;
    }
    return nullptr;
}

}  // namespace

ReportResult report_job(const ReportRequest& request) {
    ReportResult result{};
    result.magic = kReportMagic;
    if (!wait_for_evidence(request.steps, request.failed_elsewhere, request.deadline)) return result;
    bool complete = true;
    const JobStep* decisive = find_decisive_step(request, result, complete);
    if (decisive != nullptr) {
        result.has_line = 1;
        result.step = static_cast<std::uint32_t>(decisive - request.steps.data());
    } else if (complete) {
        remove_reports(request.steps);
    }
    if (decisive != nullptr || !complete) result.takes_back = 0; /* another step may be what was told of */
    return result;
}

bool read_report_result(const std::string& bytes, std::size_t step_count, ReportResult& result) {
    ReportResult read{};
    if (bytes.size() != sizeof read) return false;
    std::memcpy(&read, bytes.data(), sizeof read);
    if (read.magic != kReportMagic) return false;
    result = read;
    return result.has_line == 1 && result.step < step_count;
}

}  // namespace inquest::epilog
