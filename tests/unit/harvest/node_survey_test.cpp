#include "spank/harvest/node_survey.h"

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;
using inquest::test::write_file;

namespace {

void write_node(const FakeNode& node, const std::string& name, const std::string& json) {
    std::filesystem::create_directories(node.evidence() / name);
    write_file(node.evidence() / name / "new", json);
    std::filesystem::rename(node.evidence() / name / "new", node.evidence() / name / "node.json");
}

constexpr const char* kWell = R"({"step_ended": true, "tasks": [{"wait_status": 0}]})";

}  // namespace

TEST_CASE("a step has ended well when all nodes say so") {
    FakeNode node;
    node.node_count = 2;
    NodeSurvey survey;
    write_node(node, "n1", kWell);
    survey.update(node.step());
    CHECK_FALSE(survey.all_ended(node.step()));
    write_node(node, "n2", R"({"step_ended": false, "tasks": [{"wait_status": null}]})");
    survey.update(node.step());
    CHECK(survey.all_newer_than(node.step(), 0));
    CHECK_FALSE(survey.all_newer_than(node.step(), INT64_MAX));
    CHECK_FALSE(survey.all_ended(node.step()));
    write_node(node, "n2", kWell);
    survey.update(node.step());
    CHECK(survey.all_ended(node.step()));
    CHECK(survey.all_succeeded(node.step()));
}

TEST_CASE("anything that is not well is not taken for well") {
    for (const char* json :
         {R"({"step_ended": true, "tasks": [{"wait_status": 9}]})", R"({"step_ended": true, "tasks": []})",
          R"({"step_ended": true})", R"({"step_ended": true, "tasks": [7]})", "[]", "{", ""}) {
        FakeNode node;
        NodeSurvey survey;
        write_node(node, "n1", json);
        survey.update(node.step());
        CHECK_FALSE((survey.all_ended(node.step()) && survey.all_succeeded(node.step())));
    }
}

TEST_CASE("the own node has ended when its evidence says so and is of this run") {
    const FakeNode node;
    NodeSurvey survey;
    survey.update_own(node.step());
    CHECK_FALSE(survey.own_ended(node.step(), 0));
    write_node(node, "n2", kWell);
    survey.update_own(node.step());
    CHECK_FALSE(survey.own_ended(node.step(), 0));
    write_node(node, "n1", R"({"step_ended": true, "collected_wall_ns": 5})");
    survey.update_own(node.step());
    CHECK(survey.own_ended(node.step(), 5));
    CHECK_FALSE(survey.own_ended(node.step(), 6));
    write_node(node, "n1", R"({"step_ended": false, "collected_wall_ns": 5})");
    survey.update_own(node.step());
    CHECK_FALSE(survey.own_ended(node.step(), 5));
}
