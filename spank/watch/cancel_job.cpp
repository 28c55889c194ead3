#include "spank/watch/cancel_job.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace inquest::watch {
namespace {

constexpr int kExecFailed = 127;
constexpr unsigned kMaxSeconds = 30; /* the alarm goes on in the new program */
constexpr int kMaxTries = 10;
constexpr uint64_t kPauseNs = 20000000000U;

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

std::string describe_end(int wait_status) {
    if (WIFSIGNALED(wait_status)) return fmt::format("ended by signal {}", WTERMSIG(wait_status));
    if (WEXITSTATUS(wait_status) == kExecFailed) return "could not be run";
    return fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

}  // namespace

void JobCancel::start(uint32_t job_id) {
    job_ = std::to_string(job_id);
    is_wanted_ = !has_succeeded_ && tries_ < kMaxTries;
}

void JobCancel::take_end(uint64_t now_mono_ns) {
    int status = 0;
    const pid_t ended = pid_ > 0 ? waitpid(pid_, &status, WNOHANG) : 0;
    if (ended == pid_) end_try(status, now_mono_ns);
}

void JobCancel::tick(uint64_t now_mono_ns) {
    take_end(now_mono_ns);
    if (!is_wanted_ || is_running() || now_mono_ns < next_try_mono_ns_) return;
    begin_try();
    if (!is_running()) note_failed_try("no process was to be had", now_mono_ns);
}

void JobCancel::begin_try() {
    tries_++;
    pid_ = fork();
    if (pid_ == 0) become_scancel(scancel_, slurm_conf_, job_);
}

void JobCancel::end_try(int wait_status, uint64_t now_mono_ns) {
    pid_ = -1;
    if (wait_status != 0) return note_failed_try(describe_end(wait_status), now_mono_ns);
    has_succeeded_ = true;
    is_wanted_ = false;
}

void JobCancel::note_failed_try(const std::string& why, uint64_t now_mono_ns) {
    next_try_mono_ns_ = now_mono_ns + kPauseNs;
    if (!is_wanted_ || tries_ < kMaxTries) return;
    is_wanted_ = false;
    failure_ =
        fmt::format("the job was to be cancelled, could not be: scancel failed {} times ({})", tries_, why);
}

}  // namespace inquest::watch
