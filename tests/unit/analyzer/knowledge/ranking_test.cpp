// Order decides before specificity, specificity among the same culprits.
#include "analyzer/knowledge/hypothesis.h"
#include "analyzer/knowledge/template_text.h"
#include "tests/unit/catch.h"

using namespace inquest;
using namespace inquest::knowledge;

namespace {

Cause cause_for(const std::string& id, const std::string& fact, int specificity) {
    Cause cause;
    cause.id = id;
    cause.specificity = specificity;
    Rule rule;
    rule.subject = Condition{fact, {}, {}, {}, {}, ""};
    rule.confidence = model::Confidence::kCertain;
    cause.rules = {rule};
    return cause;
}

model::Observation seen(const std::string& fact, int rank, model::WallNs wall_ns) {
    model::Observation observation;
    observation.fact = fact;
    observation.subjects = {{rank, "n1", 0, {}}};
    observation.wall_ns = wall_ns;
    return observation;
}

Knowledge three_causes() {
    Cause fallback = cause_for("unknown", "stalled", 0);
    fallback.fallback = true;
    return {
        {cause_for("general", "ended_by_signal", 1), cause_for("special", "memory_limit_hit", 9), fallback},
        {},
        *SignatureMatcher::compile({})};
}

}  // namespace

TEST_CASE("the earliest failure wins over a more specific later one of another rank") {
    const Knowledge knowledge = three_causes();
    const Observations facts = {seen("memory_limit_hit", 1, 20), seen("ended_by_signal", 2, 10)};
    CHECK(choose_root(knowledge, facts).cause->id == "general");
}

TEST_CASE("the more specific cause wins for the same rank") {
    const Knowledge knowledge = three_causes();
    const Observations facts = {seen("memory_limit_hit", 2, 20), seen("ended_by_signal", 2, 10)};
    CHECK(choose_root(knowledge, facts).cause->id == "special");
}

TEST_CASE("without a proof the fallback answers") {
    const Knowledge knowledge = three_causes();
    CHECK(choose_root(knowledge, {seen("deadlock", 0, 1)}).cause->id == "unknown");
}

TEST_CASE("ranks are written as runs") {
    CHECK(describe_ranks({2}) == "rank 2");
    CHECK(describe_ranks({31, 0, 1, 3, 4, 5, 4}) == "ranks 0, 1, 3-5, 31");
    CHECK(describe_ranks({}) == "no rank");
}

TEST_CASE("placeholders") {
    CHECK(fill_in("{a} and {b}{c}", {{"a", "x"}, {"c", "{a}"}}) == "x and ?{a}");
    CHECK(fill_in("open { brace", {}) == "open { brace");
}
