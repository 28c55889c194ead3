#include "spank/watch/core.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "spank/harvest/file_access.h"
#include "spank/harvest/harvest_system.h"
#include "spank/watch/journals.h"
#include "spank/watch/listener.h"

namespace inquest::watch {
namespace {

constexpr const char* kSocketName = "inquestd.sock";
constexpr const char* kStepsName = "steps";
constexpr uint64_t kNsPerSecond = 1000000000U;
constexpr uint64_t kWorkerAnswerNs = 30U * kNsPerSecond;
constexpr uint64_t kJobEndNs = 25U * kNsPerSecond;
constexpr int kCheckEveryMs = 1000;
constexpr uint64_t kRecordNs = 20U * kNsPerSecond;
constexpr size_t kMaxRecordProcesses = 8;

uint64_t now_ns() {
    static const harvest::HarvestSystem system = harvest::real_system();
    return system.mono_ns();
}

}  // namespace

tl::expected<void, std::string> Core::start() {
    auto listener = listen_in(options_.run_directory, kSocketName, options_.trusted_uid);
    if (!listener) return tl::make_unexpected(listener.error());
    listener_ = std::move(*listener);
    if (auto blocked = block_signals(); !blocked) return blocked;
    resume_steps();
    return {};
}

tl::expected<void, std::string> Core::block_signals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT})
        sigaddset(&handled, number);
    if (sigprocmask(SIG_BLOCK, &handled, nullptr) != 0) return tl::make_unexpected(harvest::errno_text());
    signals_.reset(signalfd(-1, &handled, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!signals_.valid()) return tl::make_unexpected(harvest::errno_text());
    return {};
}

void Core::resume_steps() {
    const std::string steps = options_.run_directory + '/' + kStepsName;
    for (const harvest::JournalContent& journal :
         read_journals(steps, options_.trusted_uid, options_.max_workers))
        for (const std::string& bytes : journal.messages)
            if (const auto message = harvest::parse_step_message(bytes)) dispatch(0, *message, bytes);
}

void Core::run() {
    while (!stopping_)
        serve_once();
}

/* What cannot be served now is left out: poll reports a peer that has hung up whatever was asked for, and the
 * plugin hangs up without waiting for most answers. */
std::vector<pollfd> Core::descriptors() const {
    std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}};
    if (clients_.size() < options_.max_clients) watched.push_back({listener_.get(), POLLIN, 0});
    for (const auto& [id, client] : clients_)
        if (!client.is_waiting) watched.push_back({client.connection.get(), POLLIN, 0});
    for (const StepWorker& worker : workers_)
        if (!worker.is_broken() && !worker.is_closed())
            watched.push_back({worker.channel_fd(),
                               static_cast<short>(POLLIN | (worker.wants_to_send() ? POLLOUT : 0)), 0});
    return watched;
}

/* Which descriptor is ready does not matter: none of the calls blocks, and there are few. */
void Core::serve_once() {
    std::vector<pollfd> watched = descriptors();
    const bool is_idle = clients_.empty() && job_ends_.empty() && records_.empty();
    poll(watched.data(), watched.size(), is_idle ? -1 : kCheckEveryMs);
    take_signals();
    accept_clients();
    serve_clients();
    serve_workers();
    start_records();
    answer_job_ends();
    check_deadlines();
}

void Core::take_signals() {
    signalfd_siginfo taken{};
    while (read(signals_.get(), &taken, sizeof taken) == static_cast<ssize_t>(sizeof taken))
        if (taken.ssi_signo != SIGCHLD) stopping_ = true;
    reap_workers();
}

void Core::accept_clients() {
    if (clients_.size() >= options_.max_clients) drop_closed_clients();
    while (clients_.size() < options_.max_clients) {
        harvest::UniqueFd connection = accept_trusted(listener_.get(), options_.trusted_uid);
        if (!connection.valid()) return;
        clients_[next_client_++].connection = std::move(connection);
    }
}

/* Those that wait are not polled; one that has hung up needs no answer. */
void Core::drop_closed_clients() {
    std::erase_if(clients_, [](const auto& entry) {
        char byte = 0;
        return entry.second.is_waiting &&
               recv(entry.second.connection.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    });
}

void Core::serve_clients() {
    for (auto client = clients_.begin(); client != clients_.end();) {
        const bool stays = client->second.is_waiting || serve_client(client->first, client->second);
        client = stays ? std::next(client) : clients_.erase(client);
    }
}

/* Takes one message. False when the client has closed or sends nonsense. */
bool Core::serve_client(uint64_t id, Client& client) {
    std::string bytes(INQUEST_STEP_MESSAGE_MAX_BYTES, '\0');
    const ssize_t count = recv(client.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0 || static_cast<size_t>(count) > bytes.size()) return false;
    bytes.resize(static_cast<size_t>(count));
    const auto message = harvest::parse_step_message(bytes);
    if (!message || message->fields.total_bytes != bytes.size()) {
        syslog(LOG_WARNING, "a message was refused: %s",
               message ? "trailing bytes" : message.error().c_str());
        return false;
    }
    client.is_waiting = true;
    dispatch(id, *message, bytes);
    return true;
}

void Core::serve_workers() {
    for (StepWorker& worker : workers_) {
        if (worker.is_broken() || worker.is_closed()) continue;
        worker.flush();
        for (const Answer& owed : worker.receive())
            answer(owed.client, owed.reply);
        if (worker.is_broken()) give_up(worker, "breaks the protocol");
    }
}

void Core::dispatch(uint64_t client, const harvest::StepMessage& message, const std::string& bytes) {
    const StepKey key{message.fields.job_id, message.fields.step_id};
    if (message.fields.kind == INQUEST_STEP_START) return start_step(client, message, bytes);
    if (message.fields.kind == INQUEST_JOB_END) return end_job(client, key.job_id, bytes);
    pass_on(client, key, message.fields.kind, bytes);
}

/* A worker that is already there belongs to an earlier run of a requeued job. */
void Core::start_step(uint64_t client, const harvest::StepMessage& message, const std::string& bytes) {
    const StepKey key{message.fields.job_id, message.fields.step_id};
    if (StepWorker* old = find_worker(key)) give_up(*old, "is replaced by a new run of its step");
    if (!make_room()) return answer(client, INQUEST_STEP_REPLY_REFUSED);
    auto worker = StepWorker::start(key, message.fields.uid, message.fields.gid, options_.programs);
    if (!worker) {
        syslog(LOG_ERR, "step %u.%u has no worker: %s", key.job_id, key.step_id, worker.error().c_str());
        return answer(client, INQUEST_STEP_REPLY_REFUSED);
    }
    workers_.push_back(std::move(*worker));
    pass_on(client, key, message.fields.kind, bytes);
}

void Core::end_job(uint64_t client, uint32_t job_id, const std::string& bytes) {
    for (StepWorker& worker : workers_)
        if (worker.key().job_id == job_id && !worker.is_broken()) worker.send(0, bytes, now_ns());
    job_ends_.push_back({job_id, client, now_ns() + kJobEndNs});
}

void Core::pass_on(uint64_t client, const StepKey& key, uint16_t kind, const std::string& bytes) {
    StepWorker* worker = find_worker(key);
    if (worker == nullptr || !worker->send(client, bytes, now_ns()))
        return answer(client, INQUEST_STEP_REPLY_REFUSED);
    if (kind == INQUEST_STEP_END) worker->note_step_end();
}

void Core::answer(uint64_t client, uint8_t reply) {
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    found->second.is_waiting = false;
    send(found->second.connection.get(), &reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A step that has ended needs its worker only for what other nodes may still ask; the epilog does that too.
 * Workers that were given up count until they are reaped. */
bool Core::make_room() {
    const auto is_living = [](const StepWorker& worker) { return !worker.is_broken(); };
    const auto living = static_cast<size_t>(std::count_if(workers_.begin(), workers_.end(), is_living));
    if (living < options_.max_workers) return workers_.size() < 2 * options_.max_workers;
    const auto oldest = std::find_if(workers_.begin(), workers_.end(), [&](const StepWorker& worker) {
        return is_living(worker) && worker.is_idle_after_end();
    });
    if (oldest == workers_.end() || workers_.size() >= 2 * options_.max_workers) return false;
    give_up(*oldest, "makes room for another step");
    return true;
}

StepWorker* Core::find_worker(const StepKey& key) {
    const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const StepWorker& worker) {
        return worker.key() == key && !worker.is_broken();
    });
    return found == workers_.end() ? nullptr : &*found;
}

bool Core::has_workers(uint32_t job_id) const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [&](const StepWorker& worker) { return worker.key().job_id == job_id; });
}

/* The process stays in the list until it is reaped: one that hangs in a file system cannot be killed at once.
 */
void Core::give_up(StepWorker& worker, const char* why) {
    syslog(LOG_NOTICE, "the worker of step %u.%u %s", worker.key().job_id, worker.key().step_id, why);
    worker.break_off();
    for (const uint64_t client : worker.take_debts())
        answer(client, INQUEST_STEP_REPLY_REFUSED);
}

void Core::reap_workers() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG))
        if (!forget_record(pid)) forget_worker(pid, status);
}

/* A worker is the user's and may ask as it likes: it gets a few, one after the other. */
void Core::start_records() {
    for (StepWorker& worker : workers_) {
        const bool has_one = std::any_of(records_.begin(), records_.end(), [&](const RecordProcess& record) {
            return record.step == worker.key();
        });
        if (!has_one && records_.size() < kMaxRecordProcesses && worker.take_record_request())
            start_record(worker);
    }
}

void Core::start_record(StepWorker& worker) {
    const pid_t pid = start_record_process(options_.epilog_path, options_.record_field,
                                           options_.programs.slurm_conf, worker.key());
    if (pid < 0) return worker.tell_recorded();
    records_.push_back({pid, worker.key(), now_ns() + kRecordNs});
}

bool Core::forget_record(pid_t pid) {
    const auto found = std::find_if(records_.begin(), records_.end(),
                                    [&](const RecordProcess& record) { return record.pid == pid; });
    if (found == records_.end()) return false;
    if (StepWorker* worker = find_worker(found->step)) worker->tell_recorded();
    records_.erase(found);
    return true;
}

/* Its last answers may still be in the channel. */
void Core::forget_worker(pid_t pid, int wait_status) {
    const auto found = std::find_if(workers_.begin(), workers_.end(),
                                    [&](const StepWorker& worker) { return worker.pid() == pid; });
    if (found == workers_.end()) return;
    if (!found->is_broken())
        for (const Answer& owed : found->receive())
            answer(owed.client, owed.reply);
    for (const uint64_t client : found->take_debts())
        answer(client, INQUEST_STEP_REPLY_REFUSED);
    if (wait_status != 0)
        syslog(LOG_WARNING, "the worker of step %u.%u ended with wait status %d", found->key().job_id,
               found->key().step_id, wait_status);
    workers_.erase(found);
}

void Core::answer_job_ends() {
    std::erase_if(job_ends_, [&](const JobEnd& end) {
        if (has_workers(end.job_id)) return false;
        answer(end.client, INQUEST_STEP_REPLY_DONE);
        return true;
    });
}

void Core::check_deadlines() {
    const uint64_t now = now_ns();
    for (StepWorker& worker : workers_)
        if (!worker.is_broken() && now > kWorkerAnswerNs && worker.owes_since(now - kWorkerAnswerNs))
            give_up(worker, "does not answer");
    for (const RecordProcess& record : records_)
        if (now >= record.deadline_mono_ns) kill(record.pid, SIGKILL);
    std::erase_if(job_ends_, [&](const JobEnd& end) {
        if (now < end.deadline_mono_ns) return false;
        for (StepWorker& worker : workers_)
            if (worker.key().job_id == end.job_id && !worker.is_broken()) give_up(worker, "does not end");
        answer(end.client, INQUEST_STEP_REPLY_REFUSED);
        return true;
    });
}

}  // namespace inquest::watch
