#include "epilog/harvest_steps.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "epilog/analysis.h"
#include "epilog/evidence.h"
#include "epilog/local_replicas.h"
#include "spank/harvest/harvest.h"
#include "spank/harvest/node_survey.h"
#include "spank/harvest/report_directory.h"

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

void harvest_step(const JobStep& step, bool has_differing_replicas, Deadline deadline) {
    const harvest::HarvestSystem system = harvest::real_system();
    harvest::HarvestRequest request;
    request.step = step.journal.step;
    request.step.ended = true; /* slurmd runs the epilog when no process of the job is left on the node */
    request.damage = step.journal.damage;
    request.may_make_directories = step.failed || has_differing_replicas;
    if (has_differing_replicas) request.divergence_noticed_mono_ns = system.mono_ns();
    DiagnosisFields diagnosis{};
    request.keeps_analysed = read_step_diagnosis(request.step, diagnosis) && diagnosis.is_silent == 1;
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

/* Steps that ended well although their ranks on this node do not agree. */
std::set<const JobStep*> find_differing(const std::vector<JobStep>& steps, const HarvestWish& wish) {
    std::set<const JobStep*> differing;
    if (!wish.compare_replicas) return differing;
    for (const JobStep& step : steps)
        if (harvest::all_tasks_succeeded(step.journal.step) && local_replicas_differ(step.journal.step))
            differing.insert(&step);
    return differing;
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

void harvest_wanted_steps(const std::vector<JobStep>& steps, const HarvestWish& wish, Deadline deadline) {
    for (const JobStep& step : steps)
        harvest::remove_own_digests(step.journal.step); /* of a worker that could not do it */
    const bool failed_here =
        std::any_of(steps.begin(), steps.end(), [](const JobStep& step) { return step.failed; });
    const std::set<const JobStep*> differing = find_differing(steps, wish);
    if (!failed_here && differing.empty() && !wait_for_evidence(steps, wish.failed_elsewhere, deadline))
        return;
    for (const JobStep* step : by_decisiveness(steps)) {
        if (deadline.has_passed()) return;
        const bool differs = differing.count(step) != 0;
        const bool wanted = step->failed || differs || has_evidence(step->journal.step);
        if (wanted && !has_final_evidence(*step)) harvest_step(*step, differs, deadline);
    }
}

}  // namespace inquest::epilog
