/* Runs the analyzer as a program, without waiting for it. */
#ifndef INQUEST_SPANK_WATCH_ANALYZER_PROCESS_H
#define INQUEST_SPANK_WATCH_ANALYZER_PROCESS_H

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "spank/harvest/step_description.h"

namespace inquest::watch {

class AnalyzerProcess {
 public:
    explicit AnalyzerProcess(std::string program) : program_(std::move(program)) {}
    AnalyzerProcess(const AnalyzerProcess&) = delete;
    AnalyzerProcess& operator=(const AnalyzerProcess&) = delete;
    /* One that still runs is killed, and waited for by nobody: the process is about to end. */
    ~AnalyzerProcess();

    /* Starts `inquest analyze <evidence of the step> --report <report directory>` with an empty environment
     * and no input; its output is discarded, its results are files. It may use as much memory as the worker's
     * hard limit allows. */
    void start(const harvest::StepDescription& step, uint64_t deadline_mono_ns);

    /* Whether it still runs. Kills it when its deadline has passed; until it is gone, which may take long in
     * a file system that hangs, it counts as running. */
    bool is_running(uint64_t now_mono_ns);

    /* Whether the last one that ended has written a diagnosis. */
    [[nodiscard]] bool has_answered() const { return has_answered_; }

 private:
    std::string program_;
    pid_t pid_ = -1;
    uint64_t deadline_mono_ns_ = 0;
    bool has_answered_ = false;
};

}  // namespace inquest::watch

#endif
