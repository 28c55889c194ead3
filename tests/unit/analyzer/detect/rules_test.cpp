// Every rule of the knowledge base that is shipped, on a case where it holds and on a near one where it does
// not. A rule without a case fails here.
#include <algorithm>

#include "analyzer/knowledge/hypothesis.h"
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/rule_cases.h"

using namespace inquest;
using namespace inquest::test;

namespace {

RuleCases all_cases() {
    RuleCases all = cases_of_waiting();
    all.merge(cases_of_deaths());
    all.merge(cases_of_unknown());
    all.merge(cases_of_divergence());
    return all;
}

std::string name_of(const knowledge::Hypothesis& hypothesis) {
    return hypothesis.cause->id + "/" + hypothesis.rule->id;
}

// Rules of the fallback cause are tried in order, and only when no other holds.
bool holds_on(const model::Timeline& timeline, const std::string& rule, bool fallback) {
    const auto observations = detect::detect_all(timeline, shipped_knowledge());
    if (fallback) return name_of(knowledge::choose_root(shipped_knowledge(), observations)) == rule;
    const auto found = knowledge::find_hypotheses(shipped_knowledge(), observations);
    return std::any_of(found.begin(), found.end(),
                       [&](const auto& hypothesis) { return name_of(hypothesis) == rule; });
}

}  // namespace

TEST_CASE("every rule holds where it should and not next to it") {
    RuleCases cases = all_cases();
    for (const knowledge::Cause& cause : shipped_knowledge().causes) {
        for (const knowledge::Rule& rule : cause.rules) {
            const std::string name = cause.id + "/" + rule.id;
            INFO(name);
            const auto found = cases.find(name);
            REQUIRE(found != cases.end());
            CHECK(holds_on(found->second.holds, name, cause.fallback));
            CHECK_FALSE(holds_on(found->second.does_not, name, cause.fallback));
            cases.erase(found);
        }
    }
    for (const auto& [name, unused] : cases)
        FAIL_CHECK("no such rule: " << name);
}
