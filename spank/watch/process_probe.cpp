#include "spank/watch/process_probe.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace inquest::watch {

/* The identity is checked after the pidfd was opened: from then on the descriptor can only name that process.
 */
ProcessProbe::ProcessProbe(std::string proc_root, const harvest::ProcessIdentity& process)
    : proc_root_(std::move(proc_root)), process_(process) {
    if (proc_root_ == "/proc") pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    if (!harvest::find_living(proc_root_, process_)) pidfd_.reset(-1);
}

bool ProcessProbe::is_alive() const {
    if (!pidfd_.valid()) return harvest::find_living(proc_root_, process_).has_value();
    pollfd ended{pidfd_.get(), POLLIN, 0};
    return poll(&ended, 1, 0) == 0;
}

}  // namespace inquest::watch
