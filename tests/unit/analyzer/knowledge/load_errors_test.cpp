// Mistakes in knowledge files are coded and name their place.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/load_cause.h"
#include "tests/unit/catch.h"

using namespace inquest::knowledge;

namespace {

std::string shipped_text(const std::string& file) {
    std::ifstream input(std::string(INQUEST_TEST_KNOWLEDGE) + "/" + file);
    std::stringstream text;
    text << input.rdbuf();
    return text.str();
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = shipped_text("rank-died/rank-exception.yaml");
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

LoadErrorCode code_of(const std::string& yaml) {
    const auto cause = parse_cause(yaml, "x.yaml");
    REQUIRE_FALSE(cause);
    CHECK(cause.error().file == "x.yaml");
    return cause.error().code;
}

}  // namespace

TEST_CASE("each mistake has its code") {
    CHECK(code_of("a: [") == LoadErrorCode::kNotYaml);
    CHECK(code_of("- a") == LoadErrorCode::kWrongType);
    CHECK(code_of(changed("answer: ", "anwser: ")) == LoadErrorCode::kUnknownField);
    CHECK(code_of(changed("specificity: 20", "specificity: high")) == LoadErrorCode::kWrongType);
    CHECK(code_of(changed("fact: uncaught_exception", "fact: guilty_rank")) == LoadErrorCode::kUnknownFact);
    CHECK(code_of(changed("witness: \"no\"", "colour: \"no\"")) == LoadErrorCode::kUnknownFact);
    CHECK(code_of(changed("{type} on {ranks}", "{typo} on {ranks}")) == LoadErrorCode::kBadPlaceholder);
    CHECK(code_of(changed("confidence: certain", "confidence: sure")) == LoadErrorCode::kUnknownValue);
    CHECK(code_of(changed("end: crash", "end: boom")) == LoadErrorCode::kUnknownValue);
}

TEST_CASE("an error names the line") {
    const auto cause = parse_cause(changed("specificity: 20", "specificity: high"), "x.yaml");
    REQUIRE_FALSE(cause);
    CHECK(cause.error().line == 5);
    CHECK(cause.error().describe().rfind("K004 x.yaml:5: ", 0) == 0);
}

TEST_CASE("signature files are checked too") {
    const auto bad = parse_signatures("signatures:\n  - {id: a, role: witness, meaning: m}\n", "s.yaml");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == LoadErrorCode::kMissingField);
    const auto role =
        parse_signatures("signatures:\n  - {id: a, role: guilty, meaning: m, literals: [x]}\n", "s.yaml");
    REQUIRE_FALSE(role);
    CHECK(role.error().code == LoadErrorCode::kUnknownValue);
}

TEST_CASE("a pattern that does not compile is refused") {
    Signature signature;
    signature.id = "broken";
    signature.patterns = {"(unclosed"};
    const auto matcher = SignatureMatcher::compile({signature});
    REQUIRE_FALSE(matcher);
    CHECK(matcher.error().code == LoadErrorCode::kBadPattern);
}

TEST_CASE("a directory that is not there") {
    const auto knowledge = load_knowledge("/nonexistent/knowledge");
    REQUIRE_FALSE(knowledge);
    CHECK(knowledge.error().code == LoadErrorCode::kUnreadable);
}
