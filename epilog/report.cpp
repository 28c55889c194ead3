#include "epilog/report.h"

#include <chrono>
#include <cstring>

#include "epilog/analysis.h"
#include "epilog/evidence.h"
#include "epilog/harvest_steps.h"
#include "epilog/hostlist.h"
#include "epilog/record_line.h"
#include "spank/harvest/report_directory.h"

namespace inquest::epilog {
namespace {

constexpr auto kNodesTime = std::chrono::milliseconds(8000);
constexpr int kMaxAnalysedSteps = 4;

/* Not established, in a step that the hook never saw: a script that ended with an error of its own, say.
 * Nothing that a record line could say would help. */
bool is_foreign_failure(const DiagnosisFields& fields, const harvest::StepDescription& step) {
    return bounded_text(fields.cause) == kCauseUnknown && !has_box(step);
}

enum class Verdict { kRecord, kNothing, kNotAnalysed };

Verdict judge_step(const JobStep& step, const ReportRequest& request, DiagnosisFields& fields) {
    const harvest::StepDescription& description = step.journal.step;
    wait_for_nodes(description, expand_hostlist(description.nodes), request.deadline.at_most(kNodesTime));
    if (!analyse_step(request.analyzer, description, request.deadline, fields)) return Verdict::kNotAnalysed;
    const bool healthy = bounded_text(fields.cause) == kCauseHealthy;
    return healthy || is_foreign_failure(fields, description) ? Verdict::kNothing : Verdict::kRecord;
}

void remove_reports(const std::vector<JobStep>& steps) {
    for (const JobStep& step : steps) {
        /* What cannot be removed stays for the user to look at. */
        static_cast<void>(harvest::remove_step_evidence(step.journal.step.report_directory, step.name));
    }
}

/* The first step with evidence that has something to say; nullptr when none has. `complete` tells whether
 * each of them was analysed. */
const JobStep* find_decisive_step(const ReportRequest& request, DiagnosisFields& fields, bool& complete) {
    int analysed = 0;
    for (const JobStep* step : by_decisiveness(request.steps)) {
        if (!has_evidence(step->journal.step)) continue;
        complete = complete && analysed < kMaxAnalysedSteps && !request.deadline.has_passed();
        if (!complete) return nullptr;
        analysed++;
        const Verdict verdict = judge_step(*step, request, fields);
        if (verdict == Verdict::kRecord) return step;
        complete = complete && verdict != Verdict::kNotAnalysed;
    }
    return nullptr;
}

}  // namespace

ReportResult report_job(const ReportRequest& request) {
    ReportResult result{};
    result.magic = kReportMagic;
    if (!wait_for_evidence(request.steps, request.failed_elsewhere, request.deadline)) return result;
    bool complete = true;
    const JobStep* decisive = find_decisive_step(request, result.fields, complete);
    if (decisive != nullptr) {
        result.has_line = 1;
        result.step = static_cast<std::uint32_t>(decisive - request.steps.data());
    } else if (complete) {
        remove_reports(request.steps);
    }
    return result;
}

bool read_report_result(const std::string& bytes, std::size_t step_count, ReportResult& result) {
    if (bytes.size() != sizeof result) return false;
    std::memcpy(&result, bytes.data(), sizeof result);
    return result.magic == kReportMagic && result.has_line == 1 && result.step < step_count;
}

}  // namespace inquest::epilog
