#include "epilog/record_store.h"

#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

const std::string kLine =
    "inquest 1: rank-died/rank-exception (certain); report /home/ada/inquest-7-restart1";
const std::string kEarlierRun = "inquest 1: unknown (unknown); report /home/ada/inquest-7";
const std::string kSameRun = "inquest 1: unknown (unknown); report /scratch/inquest-7-restart1";
const std::string kOtherStep = "inquest 1: unknown (unknown); report /scratch/inquest-7-restart2";
const std::string kNoReport = "inquest 1: unknown (unknown)";

RecordEntry entry(bool replaces_own, const std::string& line) {
    return {"hive",
            7,
            RecordField::kAdminComment,
            0,
            replaces_own,
            line,
            {"inquest-7-restart1", "inquest-7-restart2"}};
}

TEST_CASE("a line replaces nothing of others, and of our own what it may and what is about an earlier run") {
    for (const bool replaces_own : {false, true}) {
        CHECK(may_replace("", entry(replaces_own, kLine)));
        CHECK(may_replace(kEarlierRun, entry(replaces_own, kLine)));
        CHECK(may_replace(kSameRun, entry(replaces_own, kLine)) == replaces_own);
        CHECK(may_replace(kOtherStep, entry(replaces_own, kLine)) == replaces_own);
        CHECK(may_replace(kNoReport, entry(replaces_own, kLine)) == replaces_own);
        CHECK_FALSE(may_replace("JS1:H4sI", entry(replaces_own, kLine)));
    }
}

TEST_CASE("without a line only one about an earlier run goes") {
    CHECK(may_replace(kEarlierRun, entry(false, "")));
    for (const std::string& kept : {std::string(), kSameRun, kNoReport, std::string("JS1:H4sI")})
        CHECK_FALSE(may_replace(kept, entry(false, "")));
}

}  // namespace
}  // namespace inquest::epilog
