#include <csignal>
#include <vector>

#include "tests/unit/analyzer/detect/log_builder.h"
#include "tests/unit/analyzer/detect/rule_cases.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

namespace inquest::test {
namespace {

const std::vector<std::string> kTraceback = {
    "Traceback (most recent call last):", "  File \"/home/user/train.py\", line 12, in load",
    "    return table[key]", "KeyError: 'v3'"};

model::Timeline log_with(std::vector<std::string> lines, const std::string& more) {
    if (!more.empty()) lines.push_back(more);
    return log_of(lines);
}

model::Timeline elastic(const std::string& exit_code, const std::string& more) {
    return log_with({"E failed (exitcode: " + exit_code + ") local_rank: 0 (pid: 5) of binary: python"},
                    more);
}

// Rank 0 ends like this at 2 s while ranks 1 and 2 wait for it.
model::Timeline one_ends(int wait_status, bool with_memory_kill = false) {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).ends(0, wait_status, 2);
    if (with_memory_kill) build.timeline().nodes.front().tasks.back().oom_kills = 1;
    for (const int rank : {1, 2})
        build.waits(rank, "all_reduce", 31, 1.5).loses_peer(rank, 31, 2.5);
    return build.timeline();
}

model::Timeline one_ends_after_another_raised() {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3'", 12, 1.2).ends(0, 0, 2);
    return build.waits(2, "all_reduce", 31, 1.1).loses_peer(2, 31, 2.5).timeline();
}

model::Timeline nobody_waits_for_a_status() {
    TimelineBuilder build(3);
    return build.all_call("all_reduce", 31, 1).ends(0, 3 << 8, 2).ends(1, 0, 2).ends(2, 0, 2).timeline();
}

// All but rank 2 end well; that one still waits in a call at this line.
model::Timeline most_end(int64_t line_of_the_wait) {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 31, 1);
    for (const int rank : {0, 1, 3})
        build.ends(rank, 0, 2);
    return build.waits(2, "all_reduce", line_of_the_wait, 2).loses_peer(2, line_of_the_wait, 2.5).timeline();
}

// Rank 1 aborts after the other one has ended well; its box says how far it had come.
model::Timeline one_aborts(inquest_state state) {
    TimelineBuilder build(2);
    build.all_call("barrier", 50, 1).ends(0, 0, 2).ends(1, SIGABRT | 0x80, 2);
    build.timeline().ranks.back().state = state;
    return build.timeline();
}

model::Timeline one_raises(const std::string& message) {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1).raises(1, "RuntimeError", message, 12, 2);
    return build.waits(0, "all_reduce", 31, 1.9).loses_peer(0, 31, 2.1).timeline();
}

model::Timeline all_end(int last_status) {
    TimelineBuilder build(2);
    return build.all_call("all_reduce", 31, 1).ends(0, 0, 2).ends(1, last_status, 2).timeline();
}

model::Timeline all_run(double seen) {
    TimelineBuilder build(2);
    return build.waits(0, "all_reduce", 31, 1).waits(1, "all_reduce", 31, 1).seen(seen).timeline();
}

}  // namespace

RuleCases cases_of_deaths() {
    const std::string harmless = "Warning: destroy_process_group() was not called before program exit";
    return {
        {"rank-exited-early/ended-with-zero", {one_ends(0), one_ends_after_another_raised()}},
        {"rank-exited-early/most-ended-with-zero", {most_end(31), most_end(80)}},
        {"rank-exited-early/ended-with-status", {one_ends(3 << 8), nobody_waits_for_a_status()}},
        {"rank-exception/recorded", {one_raises("bad format"), one_raises("CUDA error: no device")}},
        {"rank-exception/operation-refused",
         {one_raises("put_ does not have a deterministic implementation"), one_raises("bad format")}},
        {"rank-exception/in-the-log", {log_with(kTraceback, ""), log_with(kTraceback, "oom_kill event")}},
        {"segmentation-fault/task-ended-by-fault", {one_ends(SIGSEGV), one_ends(SIGKILL)}},
        {"segmentation-fault/fault-in-the-log", {elastic("-11", ""), elastic("-11", "CUDA error: x")}},
        {"aborted-at-exit/python-was-leaving",
         {one_aborts(INQUEST_STATE_EXITING), one_aborts(INQUEST_STATE_MODEL_WRAPPED)}},
        {"killed-by-signal/task-was-signalled", {one_ends(SIGKILL), one_ends(SIGKILL, true)}},
        {"killed-by-signal/signal-in-the-log", {elastic("-9", ""), elastic("-9", "oom_kill event")}},
        {"healthy/ended-with-zero", {all_end(0), all_end(1 << 8)}},
        {"healthy/running", {all_run(3), all_run(30)}},
        {"healthy/harmless-lines-only", {log_of({harmless}), log_of({harmless, "oom_kill event"})}},
    };
}

}  // namespace inquest::test
