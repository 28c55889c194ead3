#include "spank/harvest/step_messages.h"

#include <cstring>

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;
using inquest::test::message_bytes;

namespace {

inquest_step_message fields_of(const std::string& bytes) {
    inquest_step_message fields{};
    std::memcpy(&fields, bytes.data(), sizeof fields);
    return fields;
}

std::string with_fields(std::string bytes, const inquest_step_message& fields) {
    std::memcpy(bytes.data(), &fields, sizeof fields);
    return bytes;
}

}  // namespace

TEST_CASE("a journal becomes the description of its step") {
    const FakeNode node;
    const std::string journal = node.start_message() + node.task_message(INQUEST_TASK_START, 0, 815) +
                                node.task_message(INQUEST_TASK_EXIT, 0, 815, 9) +
                                node.plain_message(INQUEST_STEP_END);
    const auto content = parse_step_journal(journal);
    REQUIRE(content);
    CHECK(content->damage.empty());
    CHECK(content->messages.size() == 4);
    CHECK(content->step.node == "n1");
    CHECK(content->step.report_directory == node.report());
    CHECK(content->step.injected == std::vector<std::string>{"PYTHONFAULTHANDLER"});
    CHECK(content->step.left_alone.empty());
    REQUIRE(content->step.tasks.size() == 1);
    CHECK(content->step.tasks[0].pid == 815);
    CHECK(content->step.tasks[0].wait_status == 9);
    CHECK(content->step.tasks[0].exited_mono_ns == node.mono_ns);
    CHECK(content->step.ended);
    CHECK(any_task_failed(content->step));
}

TEST_CASE("a message that is cut off anywhere is refused") {
    const FakeNode node;
    const std::string start = node.start_message();
    for (size_t length = 0; length < start.size(); length++)
        CHECK_FALSE(parse_step_message(start.substr(0, length)));
    CHECK(parse_step_message(start));
}

TEST_CASE("a torn tail of a journal is damage, not an error") {
    const FakeNode node;
    const std::string journal =
        node.start_message() + node.task_message(INQUEST_TASK_START, 0, 815).substr(0, 40);
    const auto content = parse_step_journal(journal);
    REQUIRE(content);
    CHECK(content->damage.size() == 1);
    CHECK(content->messages.size() == 1);
    CHECK_FALSE(parse_step_journal(""));
    CHECK_FALSE(parse_step_journal(node.plain_message(INQUEST_STEP_END)));
}

TEST_CASE("lengths and kinds that lie are refused") {
    const FakeNode node;
    const std::string start = node.start_message();
    inquest_step_message fields = fields_of(start);
    SECTION("text longer than the message") {
        fields.text_bytes++;
    }
    SECTION("total shorter than the header") {
        fields.total_bytes = 3;
    }
    SECTION("total beyond the limit") {
        fields.total_bytes = INQUEST_STEP_MESSAGE_MAX_BYTES + 1;
    }
    SECTION("kind") {
        fields.kind = 9;
    }
    SECTION("version") {
        fields.version = 2;
    }
    SECTION("magic") {
        fields.magic = 0;
    }
    SECTION("texts of a message that has none") {
        fields.kind = INQUEST_STEP_END;
    }
    CHECK_FALSE(parse_step_message(with_fields(start, fields)));
}

TEST_CASE("texts that become paths are checked") {
    inquest_step_message fields{};
    fields.kind = INQUEST_STEP_START;
    const std::vector<std::string> good{"n1", "n1", "/home/ada/inquest-7", "/run/inquest/7.0", "", ""};
    CHECK(parse_step_message(message_bytes(fields, good)));
    for (const auto& [at, text] : std::vector<std::pair<size_t, std::string>>{{0, ""},
                                                                              {0, ".."},
                                                                              {0, "a/b"},
                                                                              {0, std::string(300, 'n')},
                                                                              {2, ""},
                                                                              {2, "relative"},
                                                                              {2, "/home/../etc"},
                                                                              {2, "/home/.."},
                                                                              {2, "/home/"},
                                                                              {3, ""},
                                                                              {3, "/"}}) {
        std::vector<std::string> texts = good;
        texts[at] = text;
        CHECK_FALSE(parse_step_message(message_bytes(fields, texts)));
    }
    CHECK_FALSE(parse_step_message(message_bytes(fields, {"n1", "n1"})));
    std::vector<std::string> more = good;
    more.emplace_back("seventh");
    CHECK_FALSE(parse_step_message(message_bytes(fields, more)));
}

TEST_CASE("a description takes messages of its own step, bounded") {
    const FakeNode node;
    StepDescription step;
    CHECK_FALSE(apply_step_message(step, *parse_step_message(node.plain_message(INQUEST_STEP_END))));
    CHECK(apply_step_message(step, *parse_step_message(node.start_message())));
    StepMessage foreign = *parse_step_message(node.plain_message(INQUEST_STEP_END));
    foreign.fields.job_id = 8;
    CHECK_FALSE(apply_step_message(step, foreign));
    StepMessage task = *parse_step_message(node.task_message(INQUEST_TASK_START, 0, 1));
    for (size_t number = 0; number < kMaxTasksPerNode; number++) {
        task.fields.task = static_cast<int32_t>(number);
        REQUIRE(apply_step_message(step, task));
    }
    task.fields.task++;
    CHECK_FALSE(apply_step_message(step, task));
}

TEST_CASE("steps have the names that Slurm gives them") {
    CHECK(step_name(0) == "0");
    CHECK(step_name(0xfffffffbU) == "batch");
    CHECK(step_name(0xfffffffaU) == "interactive");
}
