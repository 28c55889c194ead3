// Somebody still works: slow, not deadlocked.
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest;
using namespace inquest::test;
using Ranks = std::vector<int>;

namespace {

TimelineBuilder one_saves(int world, int saver) {
    TimelineBuilder build(world);
    build.all_call("all_reduce", 31, 1);
    for (int rank = 0; rank < world; ++rank) {
        if (rank != saver) build.waits(rank, "barrier", 40, 2);
    }
    return build;
}

}  // namespace

TEST_CASE("a save in progress is slow and interrupts nobody") {
    TimelineBuilder build = one_saves(4, 2);
    build.save(2, 38, 1.5).works(2, 1 << 20).seen(30);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "slow-checkpoint");
    CHECK(ranks_in(diagnosis.initiating) == Ranks{2});
    CHECK(diagnosis.end == "slow");
    CHECK_FALSE(diagnosis.worth_a_notice);
}

TEST_CASE("timeouts of the others while one rank saves") {
    TimelineBuilder build = one_saves(3, 0);
    build.save(0, 38, 1.5, 30);
    for (const int rank : {1, 2}) {
        build.raises(rank, "RuntimeError", "Timed out waiting 15000ms for recv operation to complete", 40, 17,
                     true);
    }
    build.waits(0, "barrier", 40, 30.1).loses_peer(0, 40, 30.2);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "slow-checkpoint");
    CHECK(ranks_in(diagnosis.initiating) == Ranks{0});
    CHECK(diagnosis.worth_a_notice);
}

TEST_CASE("a save that serialises first and writes on without a recorded call") {
    TimelineBuilder build = one_saves(3, 0);
    build.save(0, 38, 1.5, 1.6);
    for (const int rank : {1, 2}) {
        build.raises(rank, "RuntimeError", "Timed out waiting 15000ms for recv operation to complete", 40, 17,
                     true);
    }
    build.waits(0, "barrier", 40, 30.1).loses_peer(0, 40, 30.2);
    CHECK(diagnosis_of(build.timeline()).cause == "slow-checkpoint");
}

TEST_CASE("a slow save that ends well is healthy") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).save(0, 38, 1.5, 60).all_call("barrier", 40, 60);
    for (int rank = 0; rank < 3; ++rank)
        build.ends(rank, 0, 70);
    CHECK(diagnosis_of(build.timeline()).cause == "healthy");
}

TEST_CASE("a rank that is busy with something else is named without a cause") {
    TimelineBuilder build = one_saves(4, 1);
    build.works(1).seen(30);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK_FALSE(diagnosis.worth_a_notice);
}

TEST_CASE("the user's own frame tells where a busy rank is") {
    TimelineBuilder build = one_saves(4, 1);
    model::PythonStack::Thread main_thread;
    main_thread.is_main = true;
    main_thread.frames = {{"/opt/env/lib/python3.11/site-packages/torch/nn/linear.py", "forward", 134},
                          {"<string>", "f", 1},
                          {"/home/user/train.py", "validate", 77},
                          {"/home/user/train.py", "main", 12}};
    build.of(1).stack = model::PythonStack{{main_thread}, {}};
    build.works(1).seen(30);
    CHECK(diagnosis_of(build.timeline()).initiating.front().place.line == 77);
}

TEST_CASE("nodes that were looked at one after the other") {
    for (const double other_seen : {29.4, 30.6}) {
        TimelineBuilder build = one_saves(3, 0);
        build.save(0, 38, 1.5, 1.6).works(0).seen(30);
        build.timeline().nodes.push_back(build.timeline().nodes.front());
        build.timeline().nodes.back().name = "n2";
        build.timeline().nodes.back().collected_wall_ns = at(other_seen);
        build.of(0).node = "n2";
        const auto diagnosis = diagnosis_of(build.timeline());
        CHECK(diagnosis.cause == "slow-checkpoint");
        CHECK(diagnosis.end == "slow");
        CHECK_FALSE(diagnosis.worth_a_notice);
    }
}

TEST_CASE("ranks of a missing node leave a fact to be found") {
    TimelineBuilder build(4);
    build.timeline().ranks.pop_back();
    build.timeline().node_count = 2;
    for (int rank = 0; rank < 3; ++rank)
        build.waits(rank, "all_reduce", 31, 2);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.missing_fact->find("missing nodes") != std::string::npos);
}
