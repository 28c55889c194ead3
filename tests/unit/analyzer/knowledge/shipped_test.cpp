// The knowledge base that is shipped loads and is complete.
#include <algorithm>
#include <set>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/template_text.h"
#include "analyzer/model/fact_vocabulary.h"
#include "tests/unit/catch.h"

using namespace inquest;
using namespace inquest::knowledge;

namespace {

const Knowledge& shipped() {
    static const auto kLoaded = load_knowledge(INQUEST_TEST_KNOWLEDGE);
    if (!kLoaded) FAIL(kLoaded.error().describe());
    return *kLoaded;
}

std::set<std::string> families() {
    std::set<std::string> found;
    for (const Cause& cause : shipped().causes)
        found.insert(cause.family);
    return found;
}

}  // namespace

TEST_CASE("the causes of this version are there") {
    for (const char* id : {"collective-on-some-ranks", "rank-exception", "rank-exited-early",
                           "segmentation-fault", "aborted-at-exit", "killed-by-signal", "slow-checkpoint",
                           "healthy", "unknown", "asymmetric-gradient-accumulation", "nondeterministic-ops",
                           "batchnorm-stats-unsynchronised", "seed-not-synchronised",
                           "data-parallel-bypassed", "sampler-seed-differs", "silent-data-corruption"}) {
        INFO(id);
        REQUIRE(shipped().find(id) != nullptr);
    }
    CHECK(shipped().fallback().id == "unknown");
}

TEST_CASE("no fact's attribute hides behind a placeholder that every text has") {
    for (const model::FactDescription& fact : model::kFactVocabulary) {
        for (const std::string& name : common_placeholders()) {
            CAPTURE(fact.fact, name);
            CHECK_FALSE(model::has_word(fact.attributes, name));
        }
    }
}

TEST_CASE("every cause holds what people need") {
    for (const Cause& cause : shipped().causes) {
        INFO(cause.file);
        CHECK(cause.file.find(cause.id + ".yaml") != std::string::npos);
        CHECK(cause.file.find(cause.family.empty() ? "no-root-cause" : cause.family) == 0);
        CHECK_FALSE(cause.checklist.empty());
        CHECK_FALSE(cause.references.empty());
        CHECK(cause.questions.size() >= 8);
        CHECK((cause.family.empty() || cause.fixes.size() == 6));
        CHECK(cause.answer.size() < 200);
        for (const Rule& rule : cause.rules)
            CHECK((rule.family.empty() || (cause.family.empty() && families().count(rule.family) == 1)));
        for (const std::string& reference : cause.references)
            CHECK(reference.rfind("https://", 0) == 0);
    }
}

TEST_CASE("a rule without a certain answer names the missing fact") {
    for (const Cause& cause : shipped().causes) {
        for (const Rule& rule : cause.rules) {
            INFO(cause.id << "/" << rule.id);
            CHECK((!cause.fallback || !rule.missing_fact.empty()));
            CHECK((cause.fallback || rule.confidence != model::Confidence::kUnknown));
        }
    }
}

TEST_CASE("signatures are found in one pass, each once") {
    const auto found = shipped().matcher.find("x Connection closed by peer, Connection closed by peer");
    REQUIRE(found.size() == 1);
    CHECK(shipped().signatures[found.front()].role == Role::kWitness);
    CHECK(shipped().matcher.find("an ordinary line").empty());
    CHECK(shipped().matcher.find("").empty());
    CHECK(shipped().matcher.find(std::string(3U << 20U, 'a')).empty());
}
