#include "spank/watch/step_worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include "spank/harvest/file_access.h"
#include "spank/watch/become_user.h"
#include "spank/watch/exit_status.h"
#include "spank/watch/worker_loop.h"
#include "spank/watch/worker_protocol.h"

namespace inquest::watch {
namespace {

/* A start and an exit of each task that a node can have, with room to spare. */
constexpr size_t kMaxQueuedMessages = 16384;
/* So many are a flood. Those beyond the records are ignored. */
constexpr int kMaxEvents = 4096;
constexpr int kMaxRecords = 8;

[[noreturn]] void be_worker(uid_t uid, gid_t gid, int channel_fd, const WorkerPrograms& programs) {
    if (!become_user(uid, gid, channel_fd)) _exit(static_cast<int>(ExitStatus::privileges));
    try {
        StepWatch watch(harvest::real_system(), programs);
        run_worker_loop(kWorkerChannelFd, watch);
    } catch (const std::exception&) {
        _exit(static_cast<int>(ExitStatus::internal_error));
    }
    _exit(static_cast<int>(ExitStatus::ok));
}

}  // namespace

tl::expected<StepWorker, std::string> StepWorker::start(const StepKey& key, uid_t uid, gid_t gid,
                                                        const WorkerPrograms& programs) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return tl::make_unexpected(harvest::errno_text());
    StepWorker worker;
    worker.key_ = key;
    worker.channel_.reset(ends[0]);
    const harvest::UniqueFd workers_end(ends[1]);
    worker.pid_ = fork();
    if (worker.pid_ < 0) return tl::make_unexpected(harvest::errno_text());
    if (worker.pid_ == 0) be_worker(uid, gid, ends[1], programs);
    return worker;
}

bool StepWorker::send(uint64_t client, const std::string& message, uint64_t now_mono_ns) {
    if (broken_ || closed_ || outbox_.size() >= kMaxQueuedMessages) return false;
    const RequestHeader header{next_token_++};
    std::string packet(sizeof header, '\0');
    std::memcpy(packet.data(), &header, sizeof header);
    outbox_.push_back(packet + message);
    debts_[header.token] = {client, now_mono_ns};
    flush();
    return true;
}

void StepWorker::flush() {
    while (!outbox_.empty()) {
        const std::string& packet = outbox_.front();
        if (::send(channel_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            closed_ = errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
            return;
        }
        outbox_.pop_front();
    }
}

std::vector<Answer> StepWorker::receive() {
    std::vector<Answer> answers;
    WorkerReply reply{};
    for (;;) {
        const ssize_t count = recv(channel_.get(), &reply, sizeof reply, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return answers;
        closed_ = count == 0;
        if (closed_) return answers;
        if (count == static_cast<ssize_t>(sizeof reply) && reply.token == kEventToken && take_event())
            continue;
        const auto debt = debts_.find(reply.token);
        if (count != static_cast<ssize_t>(sizeof reply) || debt == debts_.end()) {
            broken_ = true;
            return answers;
        }
        const bool done = reply.reply == INQUEST_STEP_REPLY_DONE;
        answers.push_back({debt->second.client, static_cast<uint8_t>(done ? INQUEST_STEP_REPLY_DONE
                                                                          : INQUEST_STEP_REPLY_REFUSED)});
        debts_.erase(debt);
    }
}

/* False when there are more than a worker of ours has by far. */
bool StepWorker::take_event() {
    wants_record_ = true;
    return ++events_ <= kMaxEvents;
}

bool StepWorker::take_record_request() {
    return std::exchange(wants_record_, false) && records_++ < kMaxRecords;
}

void StepWorker::tell_recorded() {
    if (broken_ || closed_ || outbox_.size() >= kMaxQueuedMessages) return;
    const RequestHeader header{kEventToken};
    outbox_.emplace_back(sizeof header, '\0');
    std::memcpy(outbox_.back().data(), &header, sizeof header);
    flush();
}

std::vector<uint64_t> StepWorker::take_debts() {
    std::vector<uint64_t> clients;
    for (const auto& [token, debt] : debts_)
        clients.push_back(debt.client);
    debts_.clear();
    return clients;
}

bool StepWorker::owes_since(uint64_t mono_ns) const {
    return std::any_of(debts_.begin(), debts_.end(),
                       [&](const auto& debt) { return debt.second.since_mono_ns < mono_ns; });
}

void StepWorker::break_off() {
    broken_ = true;
    outbox_.clear();
    if (pid_ > 0) kill(pid_, SIGKILL);
}

}  // namespace inquest::watch
