#include "spank/watch/lead.h"

#include "spank/harvest/report_directory.h"
#include "spank/watch/evidence_sign.h"

namespace inquest::watch {
namespace {

constexpr uint64_t kNsPerSecond = 1000000000U;
constexpr uint64_t kWaitForNodesNs = 5U * kNsPerSecond;
constexpr uint64_t kAnalysisNs = 30U * kNsPerSecond;
constexpr uint64_t kLookEveryNs = kNsPerSecond / 4;
constexpr uint64_t kLookAtEndEveryNs = kNsPerSecond;
/* A node that noticed the same event by itself may have written its evidence just before the sign. */
constexpr int64_t kSameEventNs = 3000000000;

}  // namespace

void Lead::on_harvest(int64_t sign_ns) {
    wanted_ = Wanted{sign_ns - kSameEventNs, system_.mono_ns()};
    concluded_ = false;
}

void Lead::tick() {
    const uint64_t now = system_.mono_ns();
    if (analyzer_.is_running(now)) return;
    take_analysis();
    if (now - looked_mono_ns_ < (wanted_ ? kLookEveryNs : kLookAtEndEveryNs)) return;
    looked_mono_ns_ = now;
    if (wanted_) {
        survey_.update(step_);
        if (is_due()) conclude();
    } else if (step_.ended && !concluded_) {
        look_at_end();
    }
}

bool Lead::is_due() const {
    if (system_.mono_ns() - wanted_->since_mono_ns >= kWaitForNodesNs) return true;
    return step_.ended ? survey_.all_ended(step_) : survey_.all_newer_than(step_, wanted_->sign_ns);
}

/* Other nodes may go on long after this one has ended: theirs is looked at again when the last has. */
void Lead::look_at_end() {
    if (!read_sign(step_)) return;
    survey_.update(step_);
    if (survey_.all_ended(step_)) conclude();
}

void Lead::conclude() {
    const bool is_complete = wanted_ && survey_.all_newer_than(step_, wanted_->sign_ns);
    wanted_.reset();
    concluded_ = survey_.all_ended(step_);
    if (keeps_diagnosis_ || told_stands()) return confirm_diagnosis(step_);
    if (concluded_ && remove_if_well()) return;
    analyzer_.start(step_, system_.mono_ns() + kAnalysisNs);
    analysing_ = true;
    has_all_evidence_ = is_complete;
}

/* What was told from the evidence of all nodes stands unless something else has happened: later the black
 * boxes may have overwritten what they held when the replicas began to differ. */
bool Lead::told_stands() const {
    return told_from_all_ && (survey_.noticed_only_divergence() || has_ended_well()) && is_about_replicas();
}

/* Replicas that seemed to differ are the analyzer's to judge: nothing is left of a false alarm. */
void Lead::take_analysis() {
    if (!std::exchange(analysing_, false) || !survey_.noticed_divergence()) return;
    const auto diagnosis = read_diagnosis_state(step_);
    if (!diagnosis || diagnosis->is_unknown()) return;
    if (!diagnosis->is_healthy()) {
        if (!std::exchange(told_divergence_, true)) divergence_ = diagnosis;
        told_from_all_ = has_all_evidence_;
    } else if (!wanted_ && (survey_.noticed_only_divergence() || has_ended_well())) {
        remove_evidence();
    }
}

bool Lead::has_ended_well() const {
    return survey_.all_ended(step_) && survey_.all_succeeded(step_);
}

bool Lead::is_about_replicas() const {
    const auto diagnosis = read_diagnosis_state(step_);
    return diagnosis && diagnosis->is_about_replicas();
}

void Lead::remove_evidence() {
    harvest::remove_step_evidence(step_.report_directory, harvest::step_name(step_.step_id));
}

bool Lead::remove_if_well() {
    if (!survey_.all_succeeded(step_) || survey_.noticed_divergence()) return false;
    remove_evidence();
    return true;
}

bool Lead::is_settled() {
    if (!step_.ended || concluded_ || any_task_failed(step_) || !read_sign(step_)) return true;
    survey_.update(step_);
    if (!survey_.all_ended(step_)) return false;
    remove_if_well();
    return true;
}

void Lead::finish(uint64_t deadline_mono_ns) {
    while (system_.mono_ns() < deadline_mono_ns) {
        const bool is_idle = !analyzer_.is_running(system_.mono_ns());
        if (is_idle) take_analysis();
        if (is_idle && is_settled()) return;
        system_.sleep_ns(kLookEveryNs / 5);
    }
}

}  // namespace inquest::watch
