#include <algorithm>
#include <vector>

#include "tests/unit/analyzer/detect/rule_cases.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

namespace inquest::test {
namespace {

using Ranks = std::vector<int>;

bool contains(const Ranks& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// `alone` wait in a barrier, the others in an all_reduce; nobody ever made either call before.
model::Timeline two_new_calls(const Ranks& alone, int64_t others_line, const std::string& others_function) {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 50, 1);
    for (int rank = 0; rank < 4; ++rank) {
        if (contains(alone, rank)) {
            build.waits(rank, "barrier", 90, 2);
        } else {
            build.waits(rank, "all_reduce", others_line, 2.1, 1, others_function);
        }
    }
    return build.timeline();
}

model::Timeline barrier_alone(const Ranks& alone) {
    TimelineBuilder build(4);
    for (int rank = 0; rank < 4; ++rank) {
        build.backward(rank, 61, 1, 1.5);
        if (contains(alone, rank)) {
            build.waits(rank, "barrier", 90, 2);
        } else {
            build.backward(rank, 61, 2.1);
        }
    }
    return build.timeline();
}

model::Timeline barrier_after_an_exception() {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3'", 12, 2);
    build.waits(0, "all_reduce", 31, 2).waits(2, "all_reduce", 31, 2).waits(3, "all_reduce", 31, 2);
    return build.timeline();
}

// All ranks know both calls; rank 1 makes the one whose turn it is not.
model::Timeline out_of_turn() {
    TimelineBuilder build(3);
    build.all_call("barrier", 10, 1);
    for (int step = 0; step < 3; ++step)
        build.all_call("all_reduce", 20, 2 + step);
    build.waits(0, "all_reduce", 20, 9).waits(1, "barrier", 10, 9).waits(2, "all_reduce", 20, 9);
    return build.timeline();
}

// As above, but the call of rank 1 is the one that comes after the others': it skipped theirs.
model::Timeline one_skipped() {
    TimelineBuilder build(3);
    for (int step = 0; step < 3; ++step)
        build.all_call("all_reduce", 20, 2 + 2 * step).all_call("barrier", 10, 3 + 2 * step);
    build.waits(0, "all_reduce", 20, 9).waits(1, "barrier", 10, 9).waits(2, "all_reduce", 20, 9);
    return build.timeline();
}

// Ranks 0 and 1 wait in a barrier while rank 2 saves.
TimelineBuilder one_saves() {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).seen(40);
    return build.waits(0, "barrier", 40, 2).waits(1, "barrier", 40, 2);
}

void time_out(TimelineBuilder& build) {
    for (const int rank : {0, 1})
        build.raises(rank, "RuntimeError", "Timed out waiting 15000ms for recv operation", 40, 17, true);
}

model::Timeline saves_at_the_stall(int64_t bytes) {
    return one_saves().save(2, 38, 1.5).works(2, bytes).timeline();
}

model::Timeline saves_past_the_timeout(double save_end) {
    TimelineBuilder build = one_saves();
    build.save(2, 38, 1.5, save_end);
    time_out(build);
    return build.waits(2, "barrier", 40, 30.1).loses_peer(2, 40, 30.2).timeline();
}

model::Timeline waits_inside_the_save() {
    return one_saves().save(2, 38, 1.5).waits(2, "all_reduce", 39, 1.6).timeline();
}

model::Timeline does_something_else_after_the_save() {
    TimelineBuilder build = one_saves();
    build.save(2, 38, 1.5, 1.6).backward(2, 61, 2.5, 2.6);
    time_out(build);
    return build.timeline();
}

}  // namespace

RuleCases cases_of_waiting() {
    const std::string calls = "collective-on-some-ranks/";
    const std::string saves = "slow-checkpoint/";
    return {
        {calls + "extra-call-proven", {two_new_calls({1}, 95, "main"), two_new_calls({1}, 95, "other")}},
        {calls + "extra-call", {barrier_alone({2}), barrier_after_an_exception()}},
        {calls + "extra-call-out-of-turn", {out_of_turn(), one_skipped()}},
        {calls + "missing-call-proven", {two_new_calls({0, 1, 3}, 95, "main"), barrier_alone({0, 1, 3})}},
        {calls + "missing-call", {barrier_alone({0, 1, 3}), barrier_alone({2})}},
        {saves + "still-writing", {saves_at_the_stall(1 << 20), saves_at_the_stall(1 << 10)}},
        {saves + "inside-save", {saves_past_the_timeout(30), saves_at_the_stall(0)}},
        {saves + "inside-save-waiting", {saves_at_the_stall(0), waits_inside_the_save()}},
        {saves + "silent-since-save", {saves_past_the_timeout(1.6), does_something_else_after_the_save()}},
    };
}

}  // namespace inquest::test
