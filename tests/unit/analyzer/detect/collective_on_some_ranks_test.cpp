// Calls that differ between ranks, and what only looks like it.
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest::test;
using Ranks = std::vector<int>;

namespace {

// `culprits` call a barrier at line 90 that the others never call; those wait in backward at line 61.
TimelineBuilder barrier_alone(int world, const Ranks& culprits) {
    TimelineBuilder build(world);
    for (int rank = 0; rank < world; ++rank) {
        build.backward(rank, 61, 1, 1.5);
        const bool alone = std::find(culprits.begin(), culprits.end(), rank) != culprits.end();
        if (alone) {
            build.waits(rank, "barrier", 90, 2);
        } else {
            build.backward(rank, 61, 2.1);
        }
    }
    return build;
}

}  // namespace

TEST_CASE("a barrier that some ranks call while the others wait in backward") {
    struct Case {
        int world;
        Ranks culprits;
    };
    for (const Case& one : {Case{4, {2}}, Case{2, {0}}, Case{2, {1}}, Case{8, {1, 5}}, Case{4, {0, 3}}}) {
        const auto diagnosis = diagnosis_of(barrier_alone(one.world, one.culprits).timeline());
        CHECK(diagnosis.cause == "collective-on-some-ranks");
        REQUIRE(ranks_in(diagnosis.initiating) == one.culprits);
        CHECK(diagnosis.end == "hang");
        CHECK(diagnosis.initiating.front().place.line == 90);
        CHECK(diagnosis.collateral.size() == static_cast<size_t>(one.world) - one.culprits.size());
        CHECK(diagnosis.worth_a_notice);
    }
}

TEST_CASE("when most ranks make the call, those that skipped it initiate") {
    const auto diagnosis = diagnosis_of(barrier_alone(4, {0, 1, 3}).timeline());
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
    CHECK(diagnosis.initiating.front().place.line == 61);
}

TEST_CASE("renumbering the ranks renumbers the answer and nothing else") {
    const auto first = diagnosis_of(barrier_alone(5, {1}).timeline());
    const auto second = diagnosis_of(barrier_alone(5, {4}).timeline());
    CHECK(ranks_in(first.initiating) == Ranks{1});
    CHECK(ranks_in(second.initiating) == Ranks{4});
    CHECK(first.cause == second.cause);
    CHECK(first.confidence == second.confidence);
    CHECK(first.chain.size() == second.chain.size());
    CHECK(ranks_in(second.collateral) == Ranks{0, 1, 2, 3});
}

TEST_CASE("a call of one rank that matches another one by chance is found where the sites part") {
    TimelineBuilder build(4);
    build.all_call("all_reduce", 50, 1);
    for (int rank = 0; rank < 4; ++rank) {
        if (rank == 3) build.call(rank, "all_reduce", 70, 2, 2.4);
        build.call(rank, "all_reduce", 50, 2.1, 2.5);
        if (rank != 3) build.call(rank, "all_reduce", 50, 3, 3.5);
    }
    build.waits(3, "all_reduce", 50, 3);
    for (int rank = 0; rank < 3; ++rank)
        build.waits(rank, "barrier", 99, 4);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{3});
    CHECK(diagnosis.initiating.front().place.line == 70);
    CHECK(diagnosis.confidence == inquest::model::Confidence::kCertain);
}

TEST_CASE("a size clash that takes down innocent ranks at once") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1, 1000);
    build.call(1, "all_reduce", 46, 2, -1, 2, "evaluate")
        .call(0, "all_reduce", 31, 2.1, -1, 1000)
        .call(2, "all_reduce", 31, 2.1, -1, 1000);
    build.ends(1, SIGABRT, 2.2).loses_peer(0, 31, 2.3).loses_peer(2, 31, 2.3);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(diagnosis.end == "crash");
    CHECK(ranks_in(diagnosis.collateral) == Ranks{0, 2});
}

TEST_CASE("a hang that was cancelled is still that hang") {
    TimelineBuilder build = barrier_alone(4, {2});
    for (int rank = 0; rank < 4; ++rank)
        build.ends(rank, SIGTERM, 60 + 0.001 * rank);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
}

TEST_CASE("the same call with another size is not a matter of who calls") {
    TimelineBuilder build(4);
    for (int rank = 0; rank < 4; ++rank)
        build.waits(rank, "all_reduce", 31, 1, rank == 2 ? 5 : 7);
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(diagnosis.cause == "unknown");
    REQUIRE(ranks_in(diagnosis.initiating) == Ranks{2});
    CHECK(diagnosis.missing_fact);
}

TEST_CASE("two branches that match each other are no fault") {
    TimelineBuilder build(2);
    build.call(0, "broadcast", 20, 1, 1.1).call(1, "broadcast", 22, 1, 1.1);
    for (int step = 0; step < 9; ++step)
        build.all_call("all_reduce", 50, 2 + step);
    build.ends(0, 0, 20).ends(1, 0, 20);
    CHECK(diagnosis_of(build.timeline()).cause == "healthy");
}

TEST_CASE("a rank that died is absent, it does not call something else") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3'", 12, 2);
    build.waits(0, "all_reduce", 31, 2).waits(2, "all_reduce", 31, 2);
    CHECK(diagnosis_of(build.timeline()).cause == "rank-exception");
}
