// What torch's flight recorder adds: a second witness beside the boxes, and a fact where there are none.
#include "tests/unit/analyzer/detect/flight_builder.h"

#include <filesystem>
#include <iostream>
#include <set>

#include "analyzer/evidence/read_evidence.h"
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest;
using namespace inquest::test;
using Ranks = std::vector<int>;

namespace {

// Rank 1 alone calls a barrier; the recorders hold what `odd` did in place of the others' all_reduce #2.
model::Diagnosis barrier_of_rank_1(int odd) {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1);
    build.waits(1, "barrier", 90, 2, 1, "summarize");
    build.waits(0, "all_reduce", 31, 2.1).waits(2, "all_reduce", 31, 2.1);
    for (const int rank : {0, 1, 2}) {
        const FlightCall second = {rank == odd ? "barrier" : "all_reduce", 2, 1, false};
        build.of(rank).flight = flight_of(rank, {0, 1, 2}, {{"all_reduce", 1}, second});
    }
    return diagnosis_of(build.timeline());
}

bool mentions_the_recorder(const model::Diagnosis& diagnosis) {
    const auto& texts = diagnosis.supporting;
    return std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
        return text.find("flight recorder") != std::string::npos;
    });
}

model::Diagnosis of_dumps(const std::vector<model::FlightRecord>& dumps) {
    model::Timeline timeline;
    timeline.unattached_flights = dumps;
    return diagnosis_of(timeline);
}

bool names(const model::Diagnosis& diagnosis, const std::string& ranks) {
    return diagnosis.summary.find(ranks + " lag") == 0;
}

}  // namespace

TEST_CASE("recorders that put the same ranks on one side are told as a second witness") {
    const auto diagnosis = barrier_of_rank_1(1);
    CHECK(diagnosis.cause == "collective-on-some-ranks");
    CHECK(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(mentions_the_recorder(diagnosis));
}

TEST_CASE("recorders that tell something else change no verdict and are not called as witness") {
    for (const int odd : {0, 2, 5}) {
        const auto diagnosis = barrier_of_rank_1(odd);
        CHECK(ranks_in(diagnosis.initiating) == Ranks{1});
        CHECK_FALSE(mentions_the_recorder(diagnosis));
    }
}

TEST_CASE("a rank that has no entry where the others have one stands alone too") {
    TimelineBuilder build(3);
    build.all_call("all_reduce", 31, 1).waits(0, "barrier", 90, 2).waits(2, "barrier", 90, 2);
    build.backward(1, 61, 2.1);
    for (const int rank : {0, 1, 2}) {
        std::vector<FlightCall> calls = {{"all_reduce", 1}};
        if (rank != 1) calls.push_back({"barrier", 2, 1, false});
        build.of(rank).flight = flight_of(rank, {0, 1, 2}, calls);
    }
    const auto diagnosis = diagnosis_of(build.timeline());
    CHECK(ranks_in(diagnosis.initiating) == Ranks{1});
    CHECK(mentions_the_recorder(diagnosis));
}

TEST_CASE("dumps alone name the rank that is behind, and no cause") {
    std::vector<model::FlightRecord> dumps;
    for (const int rank : {0, 1, 2, 3})
        dumps.push_back(flight_of(rank, {0, 1, 2, 3}, {{"all_reduce", rank == 2 ? 7 : 9, 1, false}}));
    const auto diagnosis = of_dumps(dumps);
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.initiating.empty());
    CHECK(names(diagnosis, "rank 2"));
    CHECK(diagnosis.missing_fact->find("rank 2") != std::string::npos);
}

TEST_CASE("an empty recorder is behind; a rank that waits for it in another group is not named") {
    auto first = flight_of(0, {0, 1}, {{"all_gather", 5, 1, false}}, "tensor");
    auto second = flight_of(1, {0, 1}, {{"all_gather", 5, 1, false}}, "tensor");
    auto third = flight_of(2, {1, 2}, {}, "data");
    auto fourth = flight_of(3, {0, 3}, {{"all_reduce", 8, 1, false}}, "other");
    const auto held = flight_of(1, {1, 2}, {{"all_reduce", 3, 1, false}}, "data");
    second.group_ranks.insert(held.group_ranks.begin(), held.group_ranks.end());
    second.entries.push_back(held.entries.front());
    const auto behind = flight_of(0, {0, 3}, {{"all_reduce", 7, 1, true}}, "other");
    first.entries.push_back(behind.entries.front());
    const auto diagnosis = of_dumps({first, second, third, fourth});
    CHECK(names(diagnosis, "ranks 0, 2"));
}

TEST_CASE("dumps that agree name nobody") {
    const auto diagnosis = of_dumps({flight_of(0, {0, 1}, {{"all_reduce", 9}}),
                                     flight_of(1, {0, 1}, {{"all_reduce", 9}}), flight_of(2, {2}, {}, "1")});
    CHECK(diagnosis.cause == "unknown");
    CHECK(diagnosis.summary.find("lag") == std::string::npos);
}

TEST_CASE("real dumps of 16 ranks with known faults") {
    const std::filesystem::path dumps = INQUEST_TEST_PEERS "/flight-recorder";
    if (!std::filesystem::exists(dumps)) {
        std::cout << "SKIPPED: " << dumps << " with <name>/_dump_<rank> is not there\n";
        return;
    }
    const std::map<std::string, std::string> lagging = {{"gpu_error_1st", "rank 12"},
                                                        {"lock_gil_2nd", "ranks 10, 15"}};
    for (const auto& [job, ranks] : lagging) {
        const auto timeline = evidence::read_evidence({(dumps / job).string()});
        REQUIRE(timeline);
        const auto diagnosis = diagnosis_of(*timeline);
        INFO(job << ": " << diagnosis.summary);
        CHECK(diagnosis.cause == "unknown");
        CHECK(names(diagnosis, ranks));
    }
}
