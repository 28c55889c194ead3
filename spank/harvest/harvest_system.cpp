#include "spank/harvest/harvest_system.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "spank/harvest/unique_fd.h"

namespace inquest::harvest {
namespace {

constexpr uint64_t kNsPerSecond = 1000000000U;

uint64_t read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

void sleep_for(uint64_t duration_ns) {
    const timespec duration{static_cast<time_t>(duration_ns / kNsPerSecond),
                            static_cast<long>(duration_ns % kNsPerSecond)};
    nanosleep(&duration, nullptr);
}

/* The identity is checked after the pidfd was opened: from then on it can only name that process. */
bool send_signal_to(const ProcessIdentity& identity, int signal) {
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, identity.pid, 0)));
    if (!find_living("/proc", identity)) return false;
    if (process.valid()) return syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
    return kill(identity.pid, signal) == 0;
}

}  // namespace

HarvestSystem real_system() {
    return {[] { return read_clock(CLOCK_MONOTONIC); }, [] { return read_clock(CLOCK_REALTIME); }, sleep_for,
            send_signal_to, "/proc"};
}

}  // namespace inquest::harvest
