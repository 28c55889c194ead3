// Real dumps with known content, from <project>/../shared/peers. Skipped aloud where it is absent.
#include <filesystem>
#include <iostream>

#include "analyzer/evidence/read_evidence.h"
#include "tests/unit/catch.h"

TEST_CASE("16 ranks with tensor, expert and data parallelism") {
    const std::filesystem::path dumps = INQUEST_TEST_PEERS "/flight-recorder";
    if (!std::filesystem::exists(dumps)) {
        std::cout << "SKIPPED: " << dumps << " with <name>/_dump_<rank> is not there\n";
        return;
    }
    for (const auto& job : std::filesystem::directory_iterator(dumps)) {
        const auto timeline = inquest::evidence::read_evidence({job.path().string()});
        REQUIRE(timeline);
        CHECK(timeline->notes.empty());
        CHECK(timeline->world_size == 16);
        REQUIRE(timeline->unattached_flights.size() == 16);
        std::vector<bool> seen(16);
        for (const auto& flight : timeline->unattached_flights) {
            REQUIRE(flight.rank);
            seen.at(static_cast<size_t>(*flight.rank)) = true;
            CHECK(flight.version == "2.9");
            CHECK(flight.group_ranks.size() >= 12);
            for (const auto& entry : flight.entries) {
                CHECK(entry.operation.find(':') != std::string::npos);
                CHECK_FALSE(entry.state.empty());
                CHECK(entry.collective_sequence >= 0);
                CHECK(flight.group_ranks.count(entry.group) == 1);
            }
        }
        CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
    }
}
