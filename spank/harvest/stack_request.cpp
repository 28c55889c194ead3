#include "spank/harvest/stack_request.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace inquest::harvest {
namespace {

/* The kernel's real-time signals are 32 to 64; the C library keeps the first two (signal(7)). */
constexpr int kFirstRealTimeSignal = 34;
constexpr int kLastRealTimeSignal = 64;
constexpr uint64_t kLookEveryNs = uint64_t{20} * 1000000;

struct PendingStack {
    ProcessIdentity process;
    std::string file;
    off_t size_before = 0;
    off_t size_seen = 0;
    bool done = false;
};

off_t file_size(int directory_fd, const std::string& name) {
    struct stat status {};
    return fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_size : 0;
}

/* Why the process must not be signalled; empty when it may. */
std::string refusal(const StackRequest& request, const std::string& proc_root) {
    if (request.signal < kFirstRealTimeSignal || request.signal > kLastRealTimeSignal)
        return fmt::format("{} is no real-time signal", request.signal);
    if (!find_living(proc_root, request.process)) return "process is gone";
    const auto status = read_process_status(proc_root, request.process.pid);
    if (!status) return "process status cannot be read";
    if (status->real_uid != getuid() || status->effective_uid != getuid()) return "process has another user";
    if ((status->caught_signals >> (request.signal - 1) & 1U) == 0)
        return "process does not catch the signal";
    return {};
}

std::string damage_line(const ProcessIdentity& process, const std::string& why) {
    return fmt::format("stack-{}: {}", identity_text(process), why);
}

/* A file that has grown and kept its size between two looks is taken as complete; a process that is gone
 * writes no more. */
bool all_rest(int directory_fd, std::vector<PendingStack>& pending, const std::string& proc_root) {
    bool all_done = true;
    for (PendingStack& stack : pending) {
        const off_t size = file_size(directory_fd, stack.file);
        const bool rests = size > stack.size_before && size == stack.size_seen;
        stack.done = rests || !find_living(proc_root, stack.process);
        stack.size_seen = size;
        all_done = all_done && stack.done;
    }
    return all_done;
}

}  // namespace

std::vector<std::string> request_stacks(int directory_fd, const std::vector<StackRequest>& requests,
                                        uint64_t deadline_mono_ns, const HarvestSystem& system) {
    std::vector<std::string> damage;
    std::vector<PendingStack> pending;
    for (const StackRequest& request : requests) {
        if (request.signal == 0) continue;
        const std::string file = fmt::format("stack-{}.txt", identity_text(request.process));
        const off_t size = file_size(directory_fd, file);
        std::string why = refusal(request, system.proc_root);
        if (why.empty() && !system.send_signal(request.process, request.signal)) why = "signal not sent";
        if (why.empty()) pending.push_back({request.process, file, size, size, false});
        if (!why.empty()) damage.push_back(damage_line(request.process, why));
    }
    while (!all_rest(directory_fd, pending, system.proc_root) && system.mono_ns() < deadline_mono_ns)
        system.sleep_ns(kLookEveryNs);
    for (const PendingStack& stack : pending)
        if (stack.size_seen <= stack.size_before)
            damage.push_back(damage_line(stack.process, "no stacks within the time"));
    return damage;
}

}  // namespace inquest::harvest
