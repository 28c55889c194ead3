#include "spank/harvest/user_identity.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "spank/harvest/unique_fd.h"

namespace inquest::harvest {
namespace {

constexpr int kMaxGroups = 65536;
constexpr size_t kPasswdBytes = 16384;
constexpr rlim_t kMemoryBytes = rlim_t{512} * 1024 * 1024;
constexpr rlim_t kMostMemoryBytes = rlim_t{4} * 1024 * 1024 * 1024;

/* What it inherits protects it from the out-of-memory killer: inquestd and slurmd are to go last. */
void set_oom_score(const char* score) {
    const UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (file.valid() && write(file.get(), score, std::strlen(score)) < 0) return;
}

bool take_groups(uid_t uid, gid_t gid) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(kPasswdBytes);
    if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return setgroups(1, &gid) == 0;
    std::vector<gid_t> groups(kMaxGroups);
    int count = kMaxGroups;
    if (getgrouplist(entry.pw_name, gid, groups.data(), &count) < 0) return false;
    return setgroups(static_cast<size_t>(count), groups.data()) == 0;
}

bool has_become(uid_t uid, gid_t gid) {
    uid_t uids[3];
    gid_t gids[3];
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0)
        return false;
    for (int at = 0; at < 3; at++)
        if (uids[at] != uid || gids[at] != gid) return false;
    return uid == 0 || setresuid(0, 0, 0) != 0;
}

bool change_ids(uid_t uid, gid_t gid) {
    if (geteuid() == 0 && !take_groups(uid, gid)) return false;
    return setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0 && has_become(uid, gid);
}

/* The sanitizers reserve more address space than any limit. */
bool limit_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    const rlimit memory{kMemoryBytes, kMostMemoryBytes};
    return setrlimit(RLIMIT_AS, &memory) == 0;
#endif
}

}  // namespace

bool drop_to_user(uid_t uid, gid_t gid, const char* oom_score) {
    const rlimit no_core{0, 0};
    set_oom_score(oom_score);
    umask(077);
    return change_ids(uid, gid) && setrlimit(RLIMIT_CORE, &no_core) == 0 && limit_memory() &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && chdir("/") == 0 && clearenv() == 0;
}

}  // namespace inquest::harvest
