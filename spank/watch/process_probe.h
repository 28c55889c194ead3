/* Asks again and again, cheaply, whether one process still lives. */
#ifndef INQUEST_SPANK_WATCH_PROCESS_PROBE_H
#define INQUEST_SPANK_WATCH_PROCESS_PROBE_H

#include <string>

#include "spank/harvest/process_table.h"
#include "spank/harvest/unique_fd.h"

namespace inquest::watch {

/* Below the real /proc a pidfd is asked, which is readable once the process has ended, also as a zombie
 * (pidfd_open(2), Linux 5.3): a hundred times cheaper than /proc/PID/stat, which is read where there is none.
 */
class ProcessProbe {
 public:
    ProcessProbe(std::string proc_root, const harvest::ProcessIdentity& process);

    [[nodiscard]] bool is_alive() const;

 private:
    std::string proc_root_;
    harvest::ProcessIdentity process_;
    harvest::UniqueFd pidfd_;
};

}  // namespace inquest::watch

#endif
