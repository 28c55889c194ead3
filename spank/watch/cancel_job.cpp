#include "spank/watch/cancel_job.h"

#include <unistd.h>

#include <vector>

namespace inquest::watch {
namespace {

constexpr int kExecFailed = 127;
constexpr unsigned kMaxSeconds = 30; /* the alarm goes on in the new program */

[[noreturn]] void become_scancel(const std::string& scancel, const std::string& slurm_conf,
                                 const std::string& job) {
    alarm(kMaxSeconds);
    const std::string configuration = "SLURM_CONF=" + slurm_conf;
    const char* arguments[] = {scancel.c_str(), job.c_str(), nullptr};
    std::vector<const char*> environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    if (!slurm_conf.empty()) environment.push_back(configuration.c_str());
    environment.push_back(nullptr);
    execve(scancel.c_str(), const_cast<char* const*>(arguments),
           const_cast<char* const*>(environment.data()));
    _exit(kExecFailed);
}

}  // namespace

void cancel_job(const std::string& scancel, const std::string& slurm_conf, uint32_t job_id) {
    const std::string job = std::to_string(job_id);
    if (fork() == 0) become_scancel(scancel, slurm_conf, job);
}

}  // namespace inquest::watch
