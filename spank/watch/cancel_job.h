/* Cancels the job as its user. */
#ifndef INQUEST_SPANK_WATCH_CANCEL_JOB_H
#define INQUEST_SPANK_WATCH_CANCEL_JOB_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace inquest::watch {

/* Runs `scancel JOB`, and again a bounded number of times while it fails: slurmctld may be down or start
 * anew. Waits for nothing; a scancel that runs may outlive this object. Single threaded. */
class JobCancel {
 public:
    /* slurm_conf: the value of SLURM_CONF, empty for Slurm's own place. */
    JobCancel(std::string scancel, std::string slurm_conf)
        : scancel_(std::move(scancel)), slurm_conf_(std::move(slurm_conf)) {}

    /* Also after stop(), with the tries that are left. */
    void start(uint32_t job_id);

    /* To be called now and then: takes the end of a try, begins the next. */
    void tick(uint64_t now_mono_ns);
    void take_end(uint64_t now_mono_ns);

    /* No further try: the job has ended, or may go on. */
    void stop() { is_wanted_ = false; }

    /* A try that failed may have reached a slurmctld that was slow to answer. */
    [[nodiscard]] bool has_tried() const { return tries_ > 0; }
    [[nodiscard]] bool has_succeeded() const { return has_succeeded_; }
    /* What a try does to the job may show before its end does. */
    [[nodiscard]] bool is_running() const { return pid_ > 0; }

    /* Why the job could not be cancelled, once, after the last try. */
    std::optional<std::string> take_failure() { return std::exchange(failure_, std::nullopt); }

 private:
    void begin_try();
    void end_try(int wait_status, uint64_t now_mono_ns);
    void note_failed_try(const std::string& why, uint64_t now_mono_ns);

    std::string scancel_;
    std::string slurm_conf_;
    std::string job_;
    pid_t pid_ = -1;
    int tries_ = 0;
    uint64_t next_try_mono_ns_ = 0;
    bool is_wanted_ = false;
    bool has_succeeded_ = false;
    std::optional<std::string> failure_;
};

}  // namespace inquest::watch

#endif
