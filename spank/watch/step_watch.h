/* The watch over one step on one node: step messages and the passing of time in, evidence out.
 *
 * Runs as the user. Single threaded; handle() and tick() return at once unless a harvest is due, which takes
 * a few seconds at most. Errors are not reported but in replies and in the evidence itself. */
#ifndef INQUEST_SPANK_WATCH_STEP_WATCH_H
#define INQUEST_SPANK_WATCH_STEP_WATCH_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spank/format/step_journal.h"
#include "spank/harvest/harvest.h"
#include "spank/harvest/step_messages.h"
#include "spank/watch/box_watch.h"
#include "spank/watch/cancel_job.h"
#include "spank/watch/divergence_watch.h"
#include "spank/watch/lead.h"
#include "spank/watch/programs.h"

namespace inquest::watch {

class StepWatch {
 public:
    StepWatch(harvest::HarvestSystem system, WorkerPrograms programs);
    StepWatch(const StepWatch&) = delete;
    StepWatch& operator=(const StepWatch&) = delete;

    /* Takes one step message. Returns the reply, INQUEST_STEP_REPLY_*, when what it asks for is done. */
    uint8_t handle(std::string_view packet);

    /* To be called about every 200 ms. */
    void tick();

    /* True when the diagnosis belongs into the job's record already now; once, and not before the one that
     * was asked for last was written. */
    bool take_record_request();

    /* The record that was asked for was written, or could not be. */
    void on_recorded();

    /* The job has ended, the step ended well without other nodes, its box directory was removed after its
     * end, or it ended so long ago that nobody will say so any more. */
    [[nodiscard]] bool is_finished() const { return finished_; }

 private:
    struct Stall {
        uint64_t since_mono_ns = 0;
        uint64_t look_again_mono_ns = 0;
        int harvests = 0;
    };

    uint8_t handle_message(const harvest::StepMessage& message);
    uint8_t on_start(uint64_t wall_ns);
    uint8_t on_task_exit(const inquest_step_message& fields);
    uint8_t on_step_end();
    uint8_t on_job_end();

    void watch_boxes();
    void confirm_deaths();
    [[nodiscard]] bool exited_normally(const harvest::ProcessIdentity& process) const;
    void check_stall();
    void check_replicas();
    void take_last_replica_records();
    bool take_differences();
    void on_verdict(const DiagnosisState& diagnosis);
    void give_up_cancel();
    void check_cancel();
    void begin_cancel();
    [[nodiscard]] bool is_cancelled() const;
    void check_sign();
    void check_age();

    /* Gives the sign and asks for a harvest at the next tick; false when the evidence directory cannot be
     * made. */
    bool announce(harvest::Reason reason);
    bool harvest_now(harvest::Reason reason);

    harvest::HarvestSystem system_;
    WorkerPrograms programs_;
    harvest::StepDescription step_;
    std::optional<BoxWatch> boxes_;
    DivergenceWatch replicas_;
    Lead lead_;
    JobCancel cancel_;
    std::vector<harvest::LogFile> logs_;
    std::vector<Death> unconfirmed_deaths_;
    std::optional<Stall> stall_;
    std::optional<harvest::Reason> wanted_harvest_;
    std::optional<int64_t> handled_sign_ns_;
    std::optional<uint64_t> last_harvest_mono_ns_; /* its begin */
    uint64_t sign_looked_mono_ns_ = 0;
    std::optional<uint64_t> ended_mono_ns_;
    uint64_t age_looked_mono_ns_ = 0;
    std::optional<uint64_t> divergence_noticed_mono_ns_;
    int divergence_harvests_ = 0;
    bool owes_divergence_ = false; /* it was noticed and is in no evidence yet */
    bool wants_record_ = false;
    bool awaits_record_ = false;             /* was asked for */
    std::optional<DiagnosisState> recorded_; /* or to be */
    std::optional<uint64_t> cancel_mono_ns_;
    std::vector<std::string> damage_; /* for all evidence from now on */
    bool failure_seen_ = false;
    bool harvested_since_end_ = false;
    int requested_harvests_ = 0;
    bool finished_ = false;
};

}  // namespace inquest::watch

#endif
