/* A step worker as the root core sees it: a child process that became the user, a channel to it, and what it
 * owes. */
#ifndef INQUEST_SPANK_WATCH_STEP_WORKER_H
#define INQUEST_SPANK_WATCH_STEP_WORKER_H

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "spank/harvest/unique_fd.h"
#include "spank/watch/programs.h"

namespace inquest::watch {

struct StepKey {
    uint32_t job_id = 0;
    uint32_t step_id = 0;
    /* clang-tidy 14 takes the 0 of a defaulted comparison for a pointer. */
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const StepKey&) const = default;
};

struct Answer {
    uint64_t client = 0;
    uint8_t reply = 0;
};

/* Not thread safe. The channel never blocks: what it does not take waits in a bounded queue. */
class StepWorker {
 public:
    /* Forks the worker, which becomes the user and watches. An error text when there is no process to be had.
     */
    static tl::expected<StepWorker, std::string> start(const StepKey& key, uid_t uid, gid_t gid,
                                                       const WorkerPrograms& programs);

    /* Passes a step message on; its answer is owed to `client` (0: to nobody). False when the queue is full.
     */
    bool send(uint64_t client, const std::string& message, uint64_t now_mono_ns);

    /* Answers that have arrived. Sets is_broken() when the worker says nonsense, is_closed() when it has
     * ended. */
    std::vector<Answer> receive();
    void flush();

    /* Whether the worker has asked for the record since the last call; true a few times at most. */
    bool take_record_request();

    /* Answers that. */
    void tell_recorded();

    /* Ends the debts: the clients that are still owed an answer. */
    std::vector<uint64_t> take_debts();

    /* Whether an answer is owed since before this time. */
    [[nodiscard]] bool owes_since(uint64_t mono_ns) const;

    /* The end of the step was passed on. */
    void note_step_end() { step_ended_ = true; }
    [[nodiscard]] bool is_idle_after_end() const { return step_ended_ && debts_.empty(); }

    /* Kills the process, which is our child until it is reaped, and takes nothing from it any more. */
    void break_off();

    [[nodiscard]] const StepKey& key() const { return key_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] int channel_fd() const { return channel_.get(); }
    [[nodiscard]] bool wants_to_send() const { return !outbox_.empty(); }
    [[nodiscard]] bool is_broken() const { return broken_; }
    [[nodiscard]] bool is_closed() const { return closed_; }

 private:
    bool take_event();

    struct Debt {
        uint64_t client = 0;
        uint64_t since_mono_ns = 0;
    };

    StepKey key_;
    pid_t pid_ = -1;
    harvest::UniqueFd channel_;
    std::deque<std::string> outbox_;
    std::map<uint64_t, Debt> debts_; /* by token */
    uint64_t next_token_ = 1;
    bool wants_record_ = false;
    int events_ = 0;
    int records_ = 0;
    bool step_ended_ = false;
    bool broken_ = false;
    bool closed_ = false;
};

}  // namespace inquest::watch

#endif
