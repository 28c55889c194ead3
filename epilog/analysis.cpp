#include "epilog/analysis.h"

#include <sys/resource.h>
#include <unistd.h>

#include "epilog/child.h"
#include "epilog/evidence.h"

namespace inquest::epilog {
namespace {

constexpr rlim_t kMaxAnalyzerBytes = rlim_t{4} * 1024 * 1024 * 1024;
constexpr rlim_t kMaxCpuSeconds = 30;
constexpr int kExecFailed = 127;

/* The analyzer runs outside of the job's cgroup and may be traced by its user until it forbids that: it
 * starts no process and gets no more time than it needs. */
bool restrict_process() {
    const rlimit memory{kMaxAnalyzerBytes, kMaxAnalyzerBytes};
    const rlimit cpu{kMaxCpuSeconds, kMaxCpuSeconds};
    const rlimit no_processes{0, 0};
    return setrlimit(RLIMIT_AS, &memory) == 0 && setrlimit(RLIMIT_CPU, &cpu) == 0 &&
           setrlimit(RLIMIT_NPROC, &no_processes) == 0;
}

int exec_analyzer(const std::string& analyzer, const std::string& evidence, const std::string& report) {
    if (!restrict_process()) return kExecFailed;
    const char* arguments[] = {"inquest", "analyze", evidence.c_str(), "--report", report.c_str(), nullptr};
    const char* environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", nullptr};
    /* execve keeps its arguments unchanged; its prototype is older than const (POSIX, exec, rationale). */
    execve(analyzer.c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    return kExecFailed;
}

}  // namespace

bool analyse_step(const std::string& analyzer, const harvest::StepDescription& step, Deadline deadline,
                  DiagnosisFields& fields) {
    const std::string& report = step.report_directory;
    const std::string evidence = report + "/evidence/" + harvest::step_name(step.step_id);
    run_in_child(deadline, 0, [&](int) { return exec_analyzer(analyzer, evidence, report); });
    return read_step_diagnosis(step, fields);
}

bool read_step_diagnosis(const harvest::StepDescription& step, DiagnosisFields& fields) {
    return read_diagnosis_fields(read_diagnosis(step.report_directory), harvest::step_name(step.step_id),
                                 fields);
}

}  // namespace inquest::epilog
