/* The root core of inquestd: takes step messages from the plugin and the epilog, keeps one step worker per
 * step, passes messages and answers between them. It opens nothing below a user's directory, parses nothing
 * but step messages, and never waits for a worker: one poll loop, single threaded, everything bounded. */
#ifndef INQUEST_SPANK_WATCH_CORE_H
#define INQUEST_SPANK_WATCH_CORE_H

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "spank/harvest/step_messages.h"
#include "spank/harvest/unique_fd.h"
#include "spank/watch/programs.h"
#include "spank/watch/record_process.h"
#include "spank/watch/step_worker.h"

struct pollfd;

namespace inquest::watch {

struct CoreOptions {
    std::string run_directory;
    WorkerPrograms programs;
    std::string epilog_path;            /* inquest-epilog, for the record of a running job */
    std::string record_field = "admin"; /* its --field */
    uid_t trusted_uid = 0;              /* whose connections and journals are taken: root's; a test's own */
    size_t max_clients = 512;
    size_t max_workers = 256;
};

class Core {
 public:
    explicit Core(CoreOptions options) : options_(std::move(options)) {}

    /* Listens and takes up the steps whose journals exist. */
    tl::expected<void, std::string> start();

    /* Serves until SIGTERM or SIGINT. Its workers end by themselves when it is gone. */
    void run();

 private:
    struct Client {
        harvest::UniqueFd connection;
        bool is_waiting = false; /* for the answer to its last message */
    };
    struct JobEnd {
        uint32_t job_id = 0;
        uint64_t client = 0;
        uint64_t deadline_mono_ns = 0;
    };

    tl::expected<void, std::string> block_signals();
    void resume_steps();

    [[nodiscard]] std::vector<pollfd> descriptors() const;
    void serve_once();
    void take_signals();
    void accept_clients();
    void drop_closed_clients();
    void serve_clients();
    bool serve_client(uint64_t id, Client& client);
    void serve_workers();

    void dispatch(uint64_t client, const harvest::StepMessage& message, const std::string& bytes);
    void start_step(uint64_t client, const harvest::StepMessage& message, const std::string& bytes);
    void end_job(uint64_t client, uint32_t job_id, const std::string& bytes);
    void pass_on(uint64_t client, const StepKey& key, uint16_t kind, const std::string& bytes);
    void answer(uint64_t client, uint8_t reply);

    StepWorker* find_worker(const StepKey& key);
    bool make_room();
    [[nodiscard]] bool has_workers(uint32_t job_id) const;
    void give_up(StepWorker& worker, const char* why);
    void reap_workers();
    void forget_worker(pid_t pid, int wait_status);
    void answer_job_ends();
    void check_deadlines();
    void start_records();
    void start_record(StepWorker& worker);
    bool forget_record(pid_t pid);

    CoreOptions options_;
    harvest::UniqueFd listener_;
    harvest::UniqueFd signals_;
    std::map<uint64_t, Client> clients_;
    uint64_t next_client_ = 1;
    std::vector<StepWorker> workers_;
    std::vector<JobEnd> job_ends_;
    std::vector<RecordProcess> records_;
    bool stopping_ = false;
};

}  // namespace inquest::watch

#endif
