#include "spank/harvest/report_directory.h"

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;
using inquest::test::write_file;

namespace {

void write_report(const FakeNode& node) {
    std::filesystem::create_directories(node.evidence() / "n1");
    write_file(node.evidence() / "n1" / "node.json", "{}");
    write_file(node.report() / "diagnosis.json", "{}");
    write_file(node.report() / "report.txt", "");
    write_file(node.report() / "notice-0.txt", "");
}

}  // namespace

TEST_CASE("a report about one step goes away whole") {
    const FakeNode node;
    write_report(node);
    CHECK(remove_step_evidence(node.report(), "0"));
    CHECK_FALSE(std::filesystem::exists(node.report()));
    CHECK(remove_step_evidence(node.report(), "0"));
}

TEST_CASE("another step's evidence keeps the report") {
    const FakeNode node;
    write_report(node);
    std::filesystem::create_directories(node.report() / "evidence" / "1" / "n1");
    CHECK(remove_step_evidence(node.report(), "0"));
    CHECK_FALSE(std::filesystem::exists(node.evidence()));
    CHECK_FALSE(std::filesystem::exists(node.report() / "notice-0.txt"));
    CHECK(std::filesystem::exists(node.report() / "diagnosis.json"));
}

TEST_CASE("links are removed, not followed; foreign files stay") {
    const FakeNode node;
    write_report(node);
    std::filesystem::create_directory(node.root() / "precious");
    write_file(node.root() / "precious" / "weights", "w");
    std::filesystem::create_directory_symlink(node.root() / "precious", node.evidence() / "n1" / "link");
    write_file(node.report() / "notes", "mine");
    CHECK(remove_step_evidence(node.report(), "0"));
    CHECK(std::filesystem::exists(node.root() / "precious" / "weights"));
    CHECK(std::filesystem::exists(node.report() / "notes"));
    CHECK_FALSE(std::filesystem::exists(node.report() / "report.txt"));
}

TEST_CASE("a tree deeper than evidence is an error") {
    const FakeNode node;
    std::filesystem::create_directories(node.evidence() / "n1" / "a" / "b");
    CHECK_FALSE(remove_step_evidence(node.report(), "0"));
}

TEST_CASE("the evidence of a step is found only where it is") {
    const FakeNode node;
    CHECK_FALSE(open_step_evidence(node.step()).valid());
    REQUIRE(make_step_evidence(node.step()));
    CHECK(open_step_evidence(node.step()).valid());
}
