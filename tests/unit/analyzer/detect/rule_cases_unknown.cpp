#include <csignal>
#include <vector>

#include "tests/unit/analyzer/detect/flight_builder.h"
#include "tests/unit/analyzer/detect/log_builder.h"
#include "tests/unit/analyzer/detect/rule_cases.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

namespace inquest::test {
namespace {

model::Timeline killed(bool at_the_memory_limit) {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1).ends(1, SIGKILL, 2);
    build.timeline().nodes.front().tasks.back().oom_kills = at_the_memory_limit ? 1 : 0;
    return build.timeline();
}

model::Timeline raises(const std::string& type, const std::string& message) {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1).raises(1, type, message, 12, 2);
    return build.waits(0, "all_reduce", 31, 1.9).loses_peer(0, 31, 2.1).timeline();
}

// All wait in one call; rank 2 brings this many elements.
model::Timeline same_call(int64_t elements, double seen = 100) {
    TimelineBuilder build(3);
    build.waits(0, "all_reduce", 31, 1, 7).waits(1, "all_reduce", 31, 1, 7);
    return build.waits(2, "all_reduce", 31, 1, elements).seen(seen).timeline();
}

// Ranks 0 and 2 wait; rank 1 works, or waits too.
model::Timeline one_is_absent(bool absent) {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).waits(0, "barrier", 40, 2).waits(2, "barrier", 40, 2).seen(30);
    return (absent ? build.works(1) : build.waits(1, "barrier", 40, 2)).timeline();
}

model::Timeline terminated(const std::vector<int>& ranks) {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1);
    for (const int rank : ranks)
        build.ends(rank, SIGTERM, 2);
    return build.timeline();
}

model::Timeline aborts(bool inside_a_call) {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1);
    if (inside_a_call) build.waits(1, "all_reduce", 31, 1.5);
    return build.ends(1, SIGABRT, 2).waits(0, "all_reduce", 31, 1.9).loses_peer(0, 31, 2.1).timeline();
}

model::Timeline dumps(int64_t last_of_rank_1) {
    model::Timeline timeline;
    for (const int rank : {0, 1, 2}) {
        const int64_t last = rank == 1 ? last_of_rank_1 : 20;
        timeline.unattached_flights.push_back(flight_of(rank, {0, 1, 2}, {{"all_reduce", last, 1, false}}));
    }
    return timeline;
}

model::Timeline ranks_of_one_node(int nodes) {
    TimelineBuilder build(4);
    build.timeline().ranks.pop_back();
    build.timeline().node_count = nodes;
    for (int rank = 0; rank < 3; ++rank)
        build.waits(rank, "all_reduce", 31, 2);
    return build.timeline();
}

model::Timeline all_lose_their_peer(bool one_had_a_reason) {
    TimelineBuilder build(3);
    if (one_had_a_reason) build.raises(0, "KeyError", "'v3'", 12, 1);
    for (int rank = one_had_a_reason ? 1 : 0; rank < 3; ++rank)
        build.waits(rank, "all_reduce", 31, 1).loses_peer(rank, 31, 2 + rank);
    return build.timeline();
}

model::Timeline vanished(bool with_a_status) {
    TimelineBuilder build(1);
    build.all_call("all_reduce", 31, 1);
    build.of(0).sample = model::ProcessSample{};
    if (with_a_status) build.ends(0, 0, 2);
    return build.timeline();
}

}  // namespace

RuleCases cases_of_unknown() {
    const std::string here = "unknown/";
    const std::string time_limit =
        "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***";
    const std::string watchdog =
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=6)";
    const std::string peer_gone = "Connection closed by peer [10.0.0.2]:99";
    return {
        {here + "memory-limit", {killed(true), killed(false)}},
        {here + "known-exception", {raises("RuntimeError", "CUDA error: x"), raises("KeyError", "'v3'")}},
        {here + "calls-differ", {same_call(5), same_call(7)}},
        {here + "rank-absent", {one_is_absent(true), one_is_absent(false)}},
        {here + "everyone-signalled", {terminated({0, 1, 2}), terminated({1})}},
        {here + "aborted", {aborts(false), aborts(true)}},
        {here + "flight-lag", {dumps(18), dumps(20)}},
        {here + "node-missing", {ranks_of_one_node(2), ranks_of_one_node(1)}},
        {here + "known-line", {log_of({"CUDA out of memory"}), log_of({"memory: 5 GB"})}},
        {here + "timeout-in-the-log", {log_of({watchdog}), log_of({"a dog caught a timeout"})}},
        {here + "known-context", {log_of({time_limit}), log_of({time_limit, "CUDA out of memory"})}},
        {here + "watchdog-in-the-log", {log_of({peer_gone}), log_of({"connected to [10.0.0.2]:99"})}},
        {here + "witnesses-only", {all_lose_their_peer(false), all_lose_their_peer(true)}},
        {here + "stalled", {same_call(7), same_call(7, 3)}},
        {here + "no-box", {log_of({"step 1"}), log_of({peer_gone})}},
        {here + "nothing", {vanished(false), vanished(true)}},
    };
}

}  // namespace inquest::test
