#include "spank/watch/analyzer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace inquest::watch {
namespace {

constexpr int kExecFailed = 127;
constexpr rlim_t kMaxCpuSeconds = 60;

/* docs/man/inquest.1.md: healthy, diagnosed, unknown. */
bool is_answer(int exit_status) {
    return exit_status == 0 || exit_status == 10 || exit_status == 11;
}

void connect_to_null() {
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        dup2(null_fd, fd);
}

/* The analyzer runs outside of the job's cgroup and may be traced by its user until it forbids that: it ends
 * with its worker, starts no process and gets no more time than it needs. */
bool restrict_process() {
    const rlimit cpu{kMaxCpuSeconds, kMaxCpuSeconds};
    const rlimit no_processes{0, 0};
    rlimit memory{};
    if (getrlimit(RLIMIT_AS, &memory) != 0) return false;
    memory.rlim_cur = memory.rlim_max;
    return setrlimit(RLIMIT_AS, &memory) == 0 && setrlimit(RLIMIT_CPU, &cpu) == 0 &&
           setrlimit(RLIMIT_NPROC, &no_processes) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

[[noreturn]] void become_analyzer(const std::string& program, const std::string& evidence,
                                  const std::string& report) {
    connect_to_null();
    if (!restrict_process()) _exit(kExecFailed);
    const char* arguments[] = {program.c_str(), "analyze",      evidence.c_str(),
                               "--report",      report.c_str(), nullptr};
    const char* environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", nullptr};
    execve(program.c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    _exit(kExecFailed);
}

}  // namespace

void AnalyzerProcess::start(const harvest::StepDescription& step, uint64_t deadline_mono_ns) {
    const std::string evidence =
        fmt::format("{}/evidence/{}", step.report_directory, harvest::step_name(step.step_id));
    deadline_mono_ns_ = deadline_mono_ns;
    has_answered_ = false;
    pid_ = fork();
    if (pid_ == 0) become_analyzer(program_, evidence, step.report_directory);
}

bool AnalyzerProcess::is_running(uint64_t now_mono_ns) {
    if (pid_ <= 0) return false;
    int status = 0;
    const pid_t reaped = waitpid(pid_, &status, WNOHANG);
    if (reaped == 0) {
        if (now_mono_ns >= deadline_mono_ns_) kill(pid_, SIGKILL);
        return true;
    }
    has_answered_ = reaped == pid_ && WIFEXITED(status) && is_answer(WEXITSTATUS(status));
    pid_ = -1;
    return false;
}

AnalyzerProcess::~AnalyzerProcess() {
    if (pid_ > 0) kill(pid_, SIGKILL);
}

}  // namespace inquest::watch
