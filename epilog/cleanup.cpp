#include "epilog/cleanup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "epilog/journals.h"

namespace inquest::epilog {
namespace {

bool remove_box_directory(const std::string& path) {
    umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW); /* fails when it never was a mount: rmdir decides */
    return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

int remove_job_traces(const std::string& run_directory, std::uint32_t job_id) {
    int left = 0;
    for (const std::string& name : names_of_job(run_directory, job_id)) {
        left += remove_box_directory(fmt::format("{}/{}", run_directory, name)) ? 0 : 1;
    }
    const std::string steps = run_directory + "/steps";
    for (const std::string& name : names_of_job(steps, job_id)) {
        const std::string path = fmt::format("{}/{}", steps, name);
        left += unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : 1;
    }
    return left;
}

}  // namespace inquest::epilog
