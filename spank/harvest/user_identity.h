/* The way from root to a step's user, without return: the part that the step workers and the epilog share. */
#ifndef INQUEST_SPANK_HARVEST_USER_IDENTITY_H
#define INQUEST_SPANK_HARVEST_USER_IDENTITY_H

#include <sys/types.h>

namespace inquest::harvest {

/* Only for a child process; false when any step fails: the process must then end. The process becomes the
 * user, with the groups of the passwd and group databases (an account that these do not know keeps `gid`
 * alone), and can gain no privilege any more. Its environment is empty, its directory /, its files are the
 * user's alone, it leaves no core and has at most 512 MiB of memory, up to 4 GiB if it asks for more, as it
 * does for the analyzer. `oom_score` is its oom_score_adj (proc(5)). Without privileges a process can only
 * stay who it is, which is what tests do.
 *
 * The databases may take long to answer. The change of ids cancels PR_SET_PDEATHSIG (prctl(2)). */
bool drop_to_user(uid_t uid, gid_t gid, const char* oom_score);

}  // namespace inquest::harvest

#endif
