#include "epilog/become_user.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "epilog/die_with_parent.h"
#include "spank/harvest/unique_fd.h"

namespace inquest::epilog {
namespace {

constexpr int kMaxGroups = 65536;
constexpr rlim_t kMaxChildBytes = rlim_t{512} * 1024 * 1024;
constexpr rlim_t kMaxAnalyzerBytes =
    rlim_t{4} * 1024 * 1024 * 1024; /* hard limit: analysis.cpp raises to it */

/* An account that the passwd database no longer knows keeps the group that Slurm has for it. */
bool set_groups(const UserIdentity& user) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16384);
    if (getpwuid_r(user.uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
        return setgroups(1, &user.gid) == 0;
    }
    std::vector<gid_t> groups(kMaxGroups);
    int count = kMaxGroups;
    if (getgrouplist(entry.pw_name, user.gid, groups.data(), &count) < 0) return false;
    return setgroups(static_cast<std::size_t>(count), groups.data()) == 0;
}

bool drop_ids(const UserIdentity& user) {
    if (!set_groups(user) || setresgid(user.gid, user.gid, user.gid) != 0 ||
        setresuid(user.uid, user.uid, user.uid) != 0) {
        return false;
    }
    return user.uid == 0 || setresuid(0, 0, 0) != 0; /* the way back must be closed */
}

bool is_already(const UserIdentity& user) {
    return geteuid() != 0 && getuid() == user.uid && geteuid() == user.uid && getegid() == user.gid;
}

/* slurmd's children inherit -1000 and would be the last that a full machine kills. */
void reset_oom_score() {
    const harvest::UniqueFd score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (score.valid() && write(score.get(), "0", 1) != 1) return;
}

/* The child reads files of the user's. The sanitizers reserve more address space than any limit. */
bool limit_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    const rlimit memory{kMaxChildBytes, kMaxAnalyzerBytes};
    return setrlimit(RLIMIT_AS, &memory) == 0;
#endif
}

bool restrict_process() {
    const rlimit no_core{0, 0};
    umask(077);
    die_with_parent(); /* the change of ids has cancelled it (prctl(2)) */
    return setrlimit(RLIMIT_CORE, &no_core) == 0 && limit_memory() &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && chdir("/") == 0 && clearenv() == 0;
}

}  // namespace

bool become_user(const UserIdentity& user) {
    reset_oom_score();
    return (is_already(user) || drop_ids(user)) && restrict_process();
}

}  // namespace inquest::epilog
