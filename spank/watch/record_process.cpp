#include "spank/watch/record_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "spank/harvest/step_description.h"

namespace inquest::watch {
namespace {

constexpr int kExecFailed = 127;

/* What the daemon blocks, the program must not inherit. */
void reset_process() {
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        dup2(null_fd, fd);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_recorder(const std::string& epilog, const std::string& field,
                                  const std::string& slurm_conf, const StepKey& step) {
    reset_process();
    const std::string job = std::to_string(step.job_id);
    const std::string name = harvest::step_name(step.step_id);
    const std::string configuration = "SLURM_CONF=" + slurm_conf;
    const char* arguments[] = {epilog.c_str(), "--field",    field.c_str(), "--live",
                               job.c_str(),    name.c_str(), nullptr};
    std::vector<const char*> environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    if (!slurm_conf.empty()) environment.push_back(configuration.c_str());
    environment.push_back(nullptr);
    execve(epilog.c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(environment.data()));
    _exit(kExecFailed);
}

}  // namespace

pid_t start_record_process(const std::string& epilog, const std::string& field, const std::string& slurm_conf,
                           const StepKey& step) {
    const pid_t pid = fork();
    if (pid == 0) become_recorder(epilog, field, slurm_conf, step);
    return pid;
}

}  // namespace inquest::watch
