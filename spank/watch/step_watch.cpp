#include "spank/watch/step_watch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "spank/harvest/report_directory.h"
#include "spank/watch/diagnosis_state.h"
#include "spank/watch/evidence_sign.h"
#include "spank/watch/stall_rule.h"
#include "spank/watch/timing.h"

namespace inquest::watch {
namespace {

using harvest::Reason;

constexpr uint64_t kFinishNs = 5U * kNsPerSecond;
/* Signs and deaths this soon after the last harvest belong to the same event. */
constexpr uint64_t kSameEventNs = 5U * kNsPerSecond;
constexpr uint64_t kLookAtBoxesEveryNs = kNsPerSecond;
constexpr uint64_t kMaxAgeAfterEndNs = uint64_t{24} * 3600U * kNsPerSecond;
constexpr int kMaxHarvestsPerStall = 10;
constexpr int kMaxDivergenceHarvests = 5;
/* A cancelled job should have its record, for which the daemon is waited for this long, and its notice, which
 * srun prints within a second. */
constexpr uint64_t kWaitForRecordNs = 15U * kNsPerSecond;
constexpr uint64_t kWaitForNoticeNs = 2U * kNsPerSecond;
constexpr int kMaxTakes = 64;              /* a full ring needs a few */
constexpr int kMaxRequestedHarvests = 100; /* somebody may touch the sign all day */

bool was_ended_by(const harvest::TaskRecord& task, int signal) {
    return task.wait_status && WIFSIGNALED(*task.wait_status) && WTERMSIG(*task.wait_status) == signal;
}

bool is_terminated(const harvest::TaskRecord& task) {
    return was_ended_by(task, SIGTERM);
}

/* By something else than scancel. */
bool failed_by_itself(const harvest::TaskRecord& task) {
    return task.wait_status.value_or(0) != 0 && !is_terminated(task) && !was_ended_by(task, SIGKILL);
}

}  // namespace

StepWatch::StepWatch(harvest::HarvestSystem system, WorkerPrograms programs)
    : system_(std::move(system)),
      programs_(std::move(programs)),
      replicas_(step_, system_),
      lead_(step_, system_, programs_.analyzer),
      cancel_(programs_.scancel, programs_.slurm_conf) {}

uint8_t StepWatch::handle(std::string_view packet) {
    const auto message = harvest::parse_step_message(packet);
    return message ? handle_message(*message) : static_cast<uint8_t>(INQUEST_STEP_REPLY_REFUSED);
}

uint8_t StepWatch::handle_message(const harvest::StepMessage& message) {
    if (message.fields.kind == INQUEST_JOB_END) return on_job_end();
    if (!harvest::apply_step_message(step_, message)) return INQUEST_STEP_REPLY_REFUSED;
    switch (message.fields.kind) {
        case INQUEST_STEP_START:
            return on_start(message.fields.wall_ns);
        case INQUEST_TASK_START:
            add_log_files(logs_, system_.proc_root, message.fields.pid);
            return INQUEST_STEP_REPLY_DONE;
        case INQUEST_TASK_EXIT:
            return on_task_exit(message.fields);
        default:
            return on_step_end();
    }
}

uint8_t StepWatch::on_start(uint64_t wall_ns) {
    if (!boxes_) boxes_.emplace(step_.box_directory, system_.proc_root);
    wants_record_ =
        is_of_restarted_job(step_) && step_.node_index == 0; /* which may still be about the earlier run */
    if (step_.node_index == 0) lead_.take_up(wall_ns);
    return INQUEST_STEP_REPLY_DONE;
}

uint8_t StepWatch::on_task_exit(const inquest_step_message& fields) {
    if (fields.wait_status == 0) return INQUEST_STEP_REPLY_DONE;
    const bool is_first = !std::exchange(failure_seen_, true);
    const bool has_evidence = is_first ? announce(Reason::failure) : read_sign(step_).has_value();
    return has_evidence ? INQUEST_STEP_REPLY_DONE : INQUEST_STEP_REPLY_REFUSED;
}

uint8_t StepWatch::on_step_end() {
    ended_mono_ns_ = system_.mono_ns();
    boxes_->update(*ended_mono_ns_);
    wanted_harvest_.reset();
    unconfirmed_deaths_.clear();
    stall_.reset();
    cancel_.stop();
    take_last_replica_records();
    if (take_differences() || owes_divergence_) give_sign(step_);
    if (!any_task_failed(step_) && !read_sign(step_)) {
        finished_ = step_.node_count == 1 && all_tasks_succeeded(step_);
        return INQUEST_STEP_REPLY_DONE;
    }
    return harvest_now(Reason::end) ? INQUEST_STEP_REPLY_DONE : INQUEST_STEP_REPLY_REFUSED;
}

uint8_t StepWatch::on_job_end() {
    finished_ = true;
    if (!boxes_) return INQUEST_STEP_REPLY_DONE;
    step_.ended = true; /* no process of the job is left, also where STEP_END was lost */
    replicas_.leave();
    const bool differs = take_differences() || owes_divergence_; /* which no earlier harvest tells */
    if (differs) give_sign(step_);
    const bool wanted = any_task_failed(step_) || read_sign(step_);
    if (wanted && (differs || !harvested_since_end_)) harvest_now(Reason::end);
    if (step_.node_index == 0) lead_.finish(system_.mono_ns() + kFinishNs);
    return INQUEST_STEP_REPLY_DONE;
}

void StepWatch::tick() {
    if (!boxes_ || finished_) return;
    if (!step_.ended) {
        watch_boxes();
        check_stall();
    }
    check_replicas();
    check_sign();
    if (wanted_harvest_) harvest_now(*std::exchange(wanted_harvest_, std::nullopt));
    if (step_.node_index == 0) lead_.tick();
    if (const auto verdict = lead_.take_verdict()) on_verdict(*verdict);
    check_cancel();
    check_age();
}

void StepWatch::watch_boxes() {
    confirm_deaths();
    for (const Death& death : boxes_->update(system_.mono_ns()))
        unconfirmed_deaths_.push_back(death);
    for (const harvest::ProcessIdentity& process : boxes_->take_new_processes())
        add_log_files(logs_, system_.proc_root, process.pid);
}

/* A rank that left without a word may still have ended well: when it is a task, its exit status arrives
 * within a tick. */
void StepWatch::confirm_deaths() {
    for (const Death& death : std::exchange(unconfirmed_deaths_, {})) {
        if (exited_normally(death.process)) continue;
        if (last_harvest_mono_ns_ && *last_harvest_mono_ns_ + kSameEventNs > death.gone_mono_ns) continue;
        announce(Reason::death);
    }
}

bool StepWatch::exited_normally(const harvest::ProcessIdentity& process) const {
    return std::any_of(step_.tasks.begin(), step_.tasks.end(), [&](const harvest::TaskRecord& task) {
        return task.pid == process.pid && task.wait_status == 0;
    });
}

void StepWatch::check_stall() {
    const uint64_t now = system_.mono_ns();
    const uint64_t stall_ns = step_.stall_seconds * kNsPerSecond;
    const auto since = stalled_since(boxes_->living(), stall_ns, now);
    if (!since) return stall_.reset();
    if (!stall_) stall_ = Stall{*since, now, 0};
    if (now < stall_->look_again_mono_ns || stall_->harvests >= kMaxHarvestsPerStall) return;
    stall_->look_again_mono_ns = now + stall_ns;
    if (stall_->harvests > 0 && is_diagnosed_for_good(step_)) return;
    stall_->harvests++;
    announce(Reason::stall);
}

void StepWatch::check_replicas() {
    if (!step_.ended) replicas_.take(boxes_->take_replica_records());
    replicas_.tick();
    if (take_differences()) announce(Reason::divergence);
}

/* True when there are new ones and the step has not had its share of harvests because of them. */
bool StepWatch::take_differences() {
    bool found = false;
    while (replicas_.take_difference())
        found = true;
    if (!found || divergence_harvests_ >= kMaxDivergenceHarvests) return false;
    divergence_harvests_++;
    owes_divergence_ = true;
    if (!divergence_noticed_mono_ns_) divergence_noticed_mono_ns_ = system_.mono_ns();
    return true;
}

/* A step that failed is diagnosed by its failure: there ranks stop anywhere. */
void StepWatch::take_last_replica_records() {
    for (int take = 0; take < kMaxTakes && boxes_->has_unread_replica_records(); take++)
        replicas_.take(boxes_->take_replica_records());
    if (all_tasks_succeeded(step_)) replicas_.end();
}

/* Only about replicas that differ is a running job given up (docs/man/inquestd.8.md). */
void StepWatch::on_verdict(const DiagnosisState& diagnosis) {
    if (!recorded_ || !recorded_->says_the_same_as(diagnosis)) wants_record_ = true;
    recorded_ = diagnosis;
    const bool may_cancel =
        step_.cancel_on_divergence && diagnosis.confidence == "certain" && diagnosis.is_silent();
    if (!may_cancel) return give_up_cancel();
    if (!cancel_mono_ns_ || wants_record_) cancel_mono_ns_ = system_.mono_ns() + kWaitForRecordNs;
}

bool StepWatch::take_record_request() {
    if (!wants_record_ || awaits_record_) return false;
    wants_record_ = false;
    awaits_record_ = true;
    return true;
}

void StepWatch::on_recorded() {
    awaits_record_ = false;
    if (cancel_mono_ns_ && !wants_record_)
        cancel_mono_ns_ = std::min(*cancel_mono_ns_, system_.mono_ns() + kWaitForNoticeNs);
}

void StepWatch::give_up_cancel() {
    cancel_mono_ns_.reset();
    cancel_.stop();
}

void StepWatch::check_cancel() {
    const uint64_t now = system_.mono_ns();
    if (cancel_mono_ns_ && now >= *cancel_mono_ns_ && !lead_.awaits_evidence()) begin_cancel();
    cancel_.tick(now);
    if (cancel_.has_succeeded()) lead_.keep_diagnosis();
    const auto failure = cancel_.take_failure();
    if (!failure) return;
    damage_.push_back(*failure);
    note_in_report(step_, *failure);
}

void StepWatch::begin_cancel() {
    cancel_mono_ns_.reset();
    if (!step_.ended && !failure_seen_) cancel_.start(step_.job_id);
}

/* The tasks may be gone before scancel is; and slurmctld may do later what a scancel asked for that was not
 * waiting any more. scancel sends SIGTERM first, later SIGKILL (scancel(1)). */
bool StepWatch::is_cancelled() const {
    if (cancel_.has_succeeded()) return true;
    if (cancel_.is_running() && (step_.ended || failure_seen_))
        return std::none_of(step_.tasks.begin(), step_.tasks.end(), failed_by_itself);
    return cancel_.has_tried() && std::any_of(step_.tasks.begin(), step_.tasks.end(), is_terminated);
}

void StepWatch::check_sign() {
    const uint64_t now = system_.mono_ns();
    if (now - sign_looked_mono_ns_ < kSignEveryNs || wanted_harvest_) return;
    sign_looked_mono_ns_ = now;
    const auto sign_ns = read_sign(step_);
    if (!sign_ns || sign_ns == handled_sign_ns_ || requested_harvests_ >= kMaxRequestedHarvests) return;
    handled_sign_ns_ = sign_ns;
    if (last_harvest_mono_ns_ && now - *last_harvest_mono_ns_ < kSameEventNs) return;
    requested_harvests_++;
    wanted_harvest_ = Reason::requested;
}

void StepWatch::check_age() {
    if (!ended_mono_ns_) return;
    const uint64_t now = system_.mono_ns();
    if (now - *ended_mono_ns_ >= kMaxAgeAfterEndNs) finished_ = true;
    if (now - age_looked_mono_ns_ < kLookAtBoxesEveryNs) return;
    age_looked_mono_ns_ = now;
    if (access(step_.box_directory.c_str(), F_OK) != 0 && errno == ENOENT) on_job_end();
}

bool StepWatch::announce(Reason reason) {
    if (!wanted_harvest_) wanted_harvest_ = reason;
    return give_sign(step_).has_value();
}

bool StepWatch::harvest_now(Reason reason) {
    const uint64_t now = system_.mono_ns();
    last_harvest_mono_ns_ = now;
    harvest::HarvestRequest request;
    request.step = step_;
    request.reason = reason;
    if (stall_ && reason == Reason::stall) request.stalled_since_mono_ns = stall_->since_mono_ns;
    request.divergence_noticed_mono_ns = divergence_noticed_mono_ns_;
    cancel_.take_end(now);
    request.cancelled_for_divergence = is_cancelled();
    request.damage = damage_;
    const auto diagnosis = read_diagnosis_state(step_);
    request.keeps_analysed = diagnosis && diagnosis->is_silent();
    request.may_make_directories =
        any_task_failed(step_) || (reason != Reason::requested && reason != Reason::end);
    request.gone_mono_ns = boxes_->gone();
    request.logs = logs_;
    request.deadline_mono_ns = now + kHarvestNs;
    const bool written = harvest_node(request, system_).has_value();
    handled_sign_ns_ = read_sign(step_);
    harvested_since_end_ = step_.ended;
    if (written) owes_divergence_ = false;
    if (request.cancelled_for_divergence) lead_.keep_diagnosis();
    if (written && step_.node_index == 0) lead_.on_harvest(handled_sign_ns_.value_or(0));
    return written || (!request.may_make_directories && !handled_sign_ns_);
}

}  // namespace inquest::watch
