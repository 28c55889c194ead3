// Ranks that end: by an exception, a signal, a status, too early, or well.
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest::test;
using Ranks = std::vector<int>;

namespace {

// All ranks but `gone` lose their peer in the all_reduce at line 31 at the given time.
void others_lose_peer(TimelineBuilder& build, int world, int gone, double seconds) {
    for (int rank = 0; rank < world; ++rank) {
        if (rank == gone) continue;
        build.waits(rank, "all_reduce", 31, seconds - 0.5).loses_peer(rank, 31, seconds);
    }
}

}  // namespace

TEST_CASE("the first exception that is not a witness's is the cause") {
    for (const int world : {2, 4, 16}) {
        TimelineBuilder build(world);
        build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3'", 12, 2);
        others_lose_peer(build, world, 1, 2.1);
        const auto diagnosis = diagnosis_of(build.timeline());
        CHECK(diagnosis.cause == "rank-exception");
        REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
        CHECK(diagnosis.initiating.front().place.line == 12);
        CHECK(diagnosis.collateral.size() == static_cast<size_t>(world) - 1);
        CHECK(diagnosis.confidence == inquest::model::Confidence::kCertain);
    }
}

TEST_CASE("witnesses everywhere do not make a cause") {
    TimelineBuilder build(3);
    for (int rank = 0; rank < 3; ++rank)
        build.waits(rank, "all_reduce", 31, 1).loses_peer(rank, 31, 2 + rank);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.missing_fact);
}

TEST_CASE("an exception at the same place on all ranks is everybody's") {
    TimelineBuilder build(3);
    for (int rank = 0; rank < 3; ++rank)
        build.raises(rank, "ValueError", "bad setting", 9, 1 + 0.01 * rank);
    CHECK(ranks_in(diagnosis_of(build.timeline()).initiating) == Ranks{0, 1, 2});
}

TEST_CASE("a caught exception is not a failure") {
    TimelineBuilder build(2);
    build.raises(1, "OSError", "try again", 9, 1, false, false).ends(0, 0, 5).ends(1, 0, 5);
    CHECK(diagnosis_of(build.timeline()).cause == "healthy");
}

TEST_CASE("an exception that other knowledge decides is not claimed") {
    TimelineBuilder build(2);
    build.raises(1, "RuntimeError", "CUDA error: an illegal memory access was encountered", 9, 1);
    others_lose_peer(build, 2, 1, 1.5);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
}

TEST_CASE("a fault signal names its rank even when Slurm notices it after the others failed") {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 31, 1);
    others_lose_peer(build, 4, 2, 2.0);
    build.ends(2, SIGSEGV | 0x80, 2.3);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "segmentation-fault");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
}

TEST_CASE("a signal from outside to one rank") {
    for (const int signal : {SIGKILL, SIGTERM, SIGHUP}) {
        TimelineBuilder build(4);
        build.all_call("all_reduce", 31, 1);
        others_lose_peer(build, 4, 0, 2.0);
        build.ends(0, signal, 2.02);
        const auto diagnosis = diagnosis_of(build.timeline());
        CHECK(diagnosis.cause == "killed-by-signal");
        REQUIRE(ranks_in(diagnosis.initiating) == Ranks{0});
    }
}

TEST_CASE("ranks that the launcher kills afterwards are collateral") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).ends(1, SIGKILL, 2);
    build.waits(0, "all_reduce", 31, 2).loses_peer(0, 31, 2.01);
    build.waits(2, "all_reduce", 31, 2).ends(2, SIGTERM, 2.1);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "killed-by-signal");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(ranks_in(diagnosis.collateral) == Ranks{0, 2});
}

TEST_CASE("a worker that its launcher ended a moment later is no victim of the same sender") {
    for (const int signal : {SIGKILL, SIGTERM}) {
        TimelineBuilder build(4);
        build.all_call("all_reduce", 31, 1).ends(1, signal, 2);
        build.waits(0, "all_reduce", 31, 1.9).ends(0, SIGTERM, 2.01);
        build.of(0).end->was_told = true;
        for (const int rank : {2, 3})
            build.waits(rank, "all_reduce", 31, 1.9).loses_peer(rank, 31, 2.2);
        const auto diagnosis = diagnosis_of(build.timeline());
        CHECK(diagnosis.cause == "killed-by-signal");
        REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
        CHECK(ranks_in(diagnosis.collateral) == Ranks{0, 2, 3});
    }
}

TEST_CASE("a worker that raised stays the cause when its launcher ends it before its siblings") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3'", 12, 2).ends(1, SIGTERM, 4);
    build.of(1).end->was_told = true;
    for (const int rank : {0, 2})
        build.waits(rank, "all_reduce", 31, 1.9).loses_peer(rank, 31, 2.1);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "rank-exception");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(ranks_in(diagnosis.collateral) == Ranks{0, 2});
}

TEST_CASE("where a launcher ended all its ranks none of them is the cause") {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 31, 1);
    for (const int rank : {0, 1}) {
        build.ends(rank, SIGTERM, 2 + rank).of(rank).node = "n2";
        build.of(rank).end->was_told = true;
        build.waits(rank + 2, "all_reduce", 31, 1.9).loses_peer(rank + 2, 31, 2.1);
    }
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.initiating.empty());
    CHECK(diagnosis.headline.find("ranks 0, 1 at once") != std::string::npos);
}

TEST_CASE("a signal to everybody is not one rank's death") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1);
    for (int rank = 0; rank < 3; ++rank)
        build.ends(rank, SIGTERM, 2 + 0.002 * rank);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.initiating.empty());
}

TEST_CASE("a memory limit speaks against a signal from outside") {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1).ends(1, SIGKILL, 2);
    build.timeline().nodes.front().tasks.back().oom_kills = 1;
    CHECK(diagnosis_of(build.timeline()).cause == "unknown");
}

TEST_CASE("a rank that returns early while the others still train") {
    for (const int world : {2, 4}) {
        TimelineBuilder build(world);
        build.all_call("all_reduce", 31, 1).ends(world - 1, 0, 2);
        others_lose_peer(build, world, world - 1, 2.5);
        const auto diagnosis = diagnosis_of(build.timeline());
        CHECK(diagnosis.cause == "rank-exited-early");
        REQUIRE(ranks_in(diagnosis.initiating) == Ranks{world - 1});
        CHECK(diagnosis.end == "exit");
    }
}

TEST_CASE("when most ranks finish and one waits in a call that they never make, that one initiates") {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 31, 1);
    for (const int rank : {0, 1, 3})
        build.ends(rank, 0, 2);
    build.waits(2, "all_reduce", 80, 2).loses_peer(2, 80, 2.5);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
}

TEST_CASE("a rank that chooses another status than zero") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).ends(0, 3 << 8, 2);
    others_lose_peer(build, 3, 0, 2.5);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "rank-exited-early");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{0});
}

TEST_CASE("uneven ends are healthy") {
    TimelineBuilder build(3);
    build.all_call("barrier", 31, 1).ends(0, 0, 2).ends(2, 0, 3).ends(1, 0, 40);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "healthy");
    CHECK_FALSE(diagnosis.worth_a_notice);
}

TEST_CASE("a rank that is killed inside a call that the others have already left skips nothing") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1);
    build.waits(1, "all_reduce", 31, 2).ends(1, SIGKILL, 2.2);
    for (const int rank : {0, 2}) {
        build.call(rank, "all_reduce", 31, 2, 2.1)
            .waits(rank, "all_reduce", 31, 2.15)
            .loses_peer(rank, 31, 2.21);
    }
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "killed-by-signal");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
}

TEST_CASE("an exception inside backward skips nothing") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1);
    build.backward(1, 61, 2).raises(1, "ValueError", "negative weight", 15, 2.1, true);
    for (const int rank : {0, 2})
        build.waits(rank, "all_reduce", 31, 2.05).loses_peer(rank, 31, 2.2);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "rank-exception");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
}

TEST_CASE(
    "the line of a crash is the user's frame of the stack that the crash wrote, not the last recorded call") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).ends(2, SIGSEGV, 2);
    others_lose_peer(build, 3, 2, 2.1);
    inquest::model::PythonStack::Thread other;
    other.frames = {line(5)};
    inquest::model::PythonStack::Thread crashed;
    crashed.crashed = true;
    crashed.frames = {
        {"/venv/lib/python3.11/site-packages/torch/autograd/__init__.py", "backward", 7},
        {"/opt/inquest/lib/inquest/python/inquest_hook/patches/torch_core.py", "inquest_call", 81},
        line(84),
        line(99)};
    build.of(2).stack = inquest::model::PythonStack{{other, crashed}, {}};
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "segmentation-fault");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
    CHECK(diagnosis.initiating.front().place.line == 84);
}
