#include "epilog/harvest_steps.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "epilog/evidence.h"
#include "spank/harvest/harvest.h"
#include "spank/harvest/node_survey.h"

namespace inquest::epilog {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(100);
constexpr auto kOtherNodesTime = std::chrono::milliseconds(2000);
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

bool any_has_evidence(const std::vector<JobStep>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const JobStep& step) { return has_evidence(step.journal.step); });
}

void harvest_step(const JobStep& step, Deadline deadline) {
    const harvest::HarvestSystem system = harvest::real_system();
    harvest::HarvestRequest request;
    request.step = step.journal.step;
    request.step.ended = true; /* slurmd runs the epilog when no process of the job is left on the node */
    request.damage = step.journal.damage;
    request.deadline_mono_ns =
        system.mono_ns() + static_cast<std::uint64_t>(deadline.remaining_ms()) * kNsPerMs;
    /* What could not be written is missing evidence, which the analyzer names. */
    static_cast<void>(harvest::harvest_node(request, system));
}

/* A daemon that is done need not have had a worker for this step: it may have been killed or refused. */
bool has_final_evidence(const JobStep& step) {
    harvest::NodeSurvey survey;
    survey.update_own(step.journal.step);
    return survey.own_ended(step.journal.step,
                            static_cast<std::uint64_t>(step.started_wall_s) * kNsPerSecond);
}

}  // namespace

bool wait_for_evidence(const std::vector<JobStep>& steps, bool failed_elsewhere, Deadline deadline) {
    const Deadline limit = deadline.at_most(kOtherNodesTime);
    for (;;) {
        if (any_has_evidence(steps)) return true;
        if (!failed_elsewhere || limit.has_passed()) return false;
        std::this_thread::sleep_for(kPollInterval);
    }
}

void harvest_wanted_steps(const std::vector<JobStep>& steps, bool failed_elsewhere, Deadline deadline) {
    const bool failed_here =
        std::any_of(steps.begin(), steps.end(), [](const JobStep& step) { return step.failed; });
    if (!failed_here && !wait_for_evidence(steps, failed_elsewhere, deadline)) return;
    for (const JobStep* step : by_decisiveness(steps)) {
        if (deadline.has_passed()) return;
        const bool wanted = step->failed || has_evidence(step->journal.step);
        if (wanted && !has_final_evidence(*step)) harvest_step(*step, deadline);
    }
}

}  // namespace inquest::epilog
