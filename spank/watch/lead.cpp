#include "spank/watch/lead.h"

#include <algorithm>

#include "spank/harvest/report_directory.h"
#include "spank/watch/evidence_sign.h"
#include "spank/watch/timing.h"

namespace inquest::watch {
namespace {

constexpr uint64_t kAnalysisNs = 30U * kNsPerSecond;
constexpr uint64_t kLookEveryNs = kNsPerSecond / 4;
constexpr uint64_t kLookAtEndEveryNs = kNsPerSecond;
/* With many nodes, or on a slow file server, a look takes long: no more than this part of the time. */
constexpr uint64_t kLookShare = 4;
/* Nodes that have not answered by then will not. */
constexpr uint64_t kWaitForLateNs = 60U * kNsPerSecond;
/* A node that noticed the same event by itself may have written its evidence just before the sign. */
constexpr int64_t kSameEventNs = 3000000000;

}  // namespace

/* Told once more, for a record that was not written and a job that was not cancelled. */
void Lead::take_up(uint64_t since_wall_ns) {
    survey_nodes();
    if (!survey_.noticed_divergence() || !survey_.own_written_since(step_, since_wall_ns)) return;
    const auto diagnosis = read_diagnosis_state(step_);
    if (!diagnosis || !diagnosis->has_something_to_tell()) return;
    has_all_evidence_ = survey_.all_written_by(step_, diagnosis->written_ns);
    tell(*diagnosis);
}

void Lead::on_harvest(int64_t sign_ns) {
    wanted_ = Wanted{sign_ns - kSameEventNs, system_.mono_ns()};
    late_.reset();
    concluded_ = false;
}

void Lead::tick() {
    const uint64_t now = system_.mono_ns();
    if (analyzer_.is_running(now)) return;
    take_analysis();
    if (now - looked_mono_ns_ < look_interval_ns()) return;
    looked_mono_ns_ = now;
    if (wanted_)
        look_for_wanted();
    else if (late_)
        look_for_late();
    else if (step_.ended && !concluded_)
        look_at_end();
}

uint64_t Lead::look_interval_ns() const {
    return std::max(wanted_ ? kLookEveryNs : kLookAtEndEveryNs, kLookShare * last_look_ns_);
}

void Lead::survey_nodes() {
    const uint64_t begin = system_.mono_ns();
    survey_.update(step_);
    last_look_ns_ = system_.mono_ns() - begin;
}

void Lead::look_for_wanted() {
    survey_nodes();
    if (is_due()) conclude(*wanted_);
}

bool Lead::is_due() const {
    if (system_.mono_ns() - wanted_->since_mono_ns >= kWaitForNodesNs) return true;
    return step_.ended ? survey_.all_ended(step_) : survey_.all_newer_than(step_, wanted_->sign_ns);
}

/* What was found without them is looked at again when they have come. */
void Lead::look_for_late() {
    survey_nodes();
    if (survey_.all_newer_than(step_, late_->sign_ns)) return conclude(Wanted(*late_));
    if (system_.mono_ns() - late_->since_mono_ns < kWaitForLateNs) return;
    late_.reset();
    if (is_false_alarm_) remove_false_alarm();
}

/* Other nodes may go on long after this one has ended: theirs is looked at again when the last has. */
void Lead::look_at_end() {
    if (!read_sign(step_)) return;
    survey_nodes();
    if (survey_.all_ended(step_)) conclude({});
}

void Lead::conclude(const Wanted& about) {
    concluded_ = survey_.all_ended(step_);
    const bool is_complete = concluded_ || survey_.all_newer_than(step_, about.sign_ns);
    late_ = is_complete || step_.ended ? std::nullopt : std::optional(about);
    wanted_.reset();
    is_false_alarm_ = false;
    if (keeps_diagnosis_ || told_stands()) return confirm_diagnosis(step_);
    if (concluded_ && remove_if_well()) return;
    analyzer_.start(step_, system_.mono_ns() + kAnalysisNs);
    analysing_ = true;
    has_all_evidence_ = is_complete;
}

/* What was told from the evidence of all nodes stands unless the step hangs or fails: later the black boxes
 * may have overwritten what they held when the replicas began to differ. A rank that is gone alone says
 * little: one that finished early and left without a word (os._exit) is gone too. */
bool Lead::told_stands() const {
    const bool is_in_trouble = survey_.any_stalled() || survey_.any_failed();
    return told_from_all_ && (!is_in_trouble || has_ended_well()) && told_is_silent();
}

/* Replicas that seemed to differ are the analyzer's to judge: nothing is left of a false alarm. */
void Lead::take_analysis() {
    if (!std::exchange(analysing_, false) || !analyzer_.has_answered() || !survey_.noticed_divergence())
        return;
    const auto diagnosis = read_diagnosis_state(step_);
    if (!diagnosis) return;
    if (diagnosis->has_something_to_tell()) return tell(*diagnosis);
    if (is_told_) return take_back(*diagnosis);
    is_false_alarm_ = diagnosis->is_healthy();
    if (is_false_alarm_ && !late_) remove_false_alarm();
}

void Lead::tell(const DiagnosisState& diagnosis) {
    has_told_ = is_told_ = true;
    told_from_all_ = has_all_evidence_;
    verdict_ = diagnosis;
}

void Lead::take_back(const DiagnosisState& diagnosis) {
    is_told_ = told_from_all_ = false;
    verdict_ = diagnosis;
}

/* Where something was told, the report that says otherwise stays for srun, which reads it, and for the
 * epilog, which looks after the record and removes it. */
void Lead::remove_false_alarm() {
    if (has_told_ || wanted_) return;
    if (survey_.noticed_only_divergence() || has_ended_well()) remove_evidence();
}

bool Lead::has_ended_well() const {
    return survey_.all_ended(step_) && survey_.all_succeeded(step_);
}

bool Lead::told_is_silent() const {
    const auto diagnosis = read_diagnosis_state(step_);
    return diagnosis && diagnosis->is_silent();
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
    survey_nodes();
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
