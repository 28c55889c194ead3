/* Work that may hang or die is done in a child process that can be left behind.
 *
 * A child is the leader of a session of its own, has /dev/null as standard streams (slurmd waits for whoever
 * keeps the epilog's output open) and is killed with its whole process group at the deadline. One that a hung
 * file system keeps alive beyond that is not waited for. */
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "epilog/deadline.h"

namespace inquest::epilog {

enum class ChildEnd { kExited, kSignalled, kDeadline, kNotStarted };

struct ChildResult {
    ChildEnd end = ChildEnd::kNotStarted;
    int exit_status = -1; /* of kExited */
    std::string output;   /* what it wrote into its descriptor, at most max_output_bytes; hostile */
};

/* Who a job runs as, from Slurm. */
struct UserIdentity {
    uid_t uid;
    gid_t gid;
};

/* Runs in the child; the result is its exit status (0 to 255). The descriptor is the write end of a pipe. */
using ChildBody = std::function<int(int output_fd)>;

/* Same user as the caller. */
ChildResult run_in_child(Deadline deadline, std::size_t max_output_bytes, const ChildBody& body);

/* As run_in_child, after the child has fully become the user: groups of the passwd database, resgid, resuid,
 * cleared environment, no descriptors but the output, no new privileges, no core file, bounded memory,
 * normal out-of-memory score. Exit status
 * kBecomeUserFailed when one of these steps fails; `body` has not run then. */
inline constexpr int kBecomeUserFailed = 250;
ChildResult run_as_user(const UserIdentity& user, Deadline deadline, std::size_t max_output_bytes,
                        const ChildBody& body);

}  // namespace inquest::epilog
