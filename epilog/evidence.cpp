#include "epilog/evidence.h"

#include <chrono>
#include <thread>

#include "spank/harvest/file_access.h"
#include "spank/harvest/node_survey.h"
#include "spank/harvest/report_directory.h"

namespace inquest::epilog {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(100);
constexpr std::size_t kMaxDiagnosisBytes = std::size_t{32} * 1024 * 1024;

StepEnd end_of(const harvest::NodeSurvey& survey, const harvest::StepDescription& step) {
    if (!survey.all_succeeded(step)) return StepEnd::kNotWell;
    return survey.noticed_divergence() ? StepEnd::kDiffering : StepEnd::kWell;
}

StepEnd end_as_far_as_known(const harvest::NodeSurvey& survey) {
    if (survey.any_failed()) return StepEnd::kNotWell;
    return survey.none_failed() && !survey.noticed_divergence() ? StepEnd::kPartlyWell : StepEnd::kNotKnown;
}

}  // namespace

bool has_evidence(const harvest::StepDescription& step) {
    return harvest::open_step_evidence(step).valid();
}

/* A harvest during the step is followed by a final one, which says that the step has ended. */
StepEnd wait_for_nodes(const harvest::StepDescription& step, Deadline deadline) {
    harvest::NodeSurvey survey;
    for (;;) {
        survey.update(step);
        if (survey.cancelled_for_divergence()) return StepEnd::kCancelled;
        if (survey.all_ended(step)) return end_of(survey, step);
        if (deadline.has_passed()) return end_as_far_as_known(survey);
        std::this_thread::sleep_for(kPollInterval);
    }
}

std::string read_diagnosis(const std::string& report_directory) {
    const harvest::UniqueFd report = harvest::open_directory(report_directory);
    if (!report.valid()) return {};
    auto text = harvest::read_regular_file(report.get(), "diagnosis.json", kMaxDiagnosisBytes,
                                           harvest::KeptEnd::head);
    return text && !text->cut ? std::move(text->bytes) : std::string();
}

}  // namespace inquest::epilog
