#include "spank/plugin/step_message.h"

#include <cstring>
#include <memory>

#include "spank/plugin/box_directory.h"
#include "spank/plugin/journal.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/scratch.h"

namespace {

inquest_step step_of(uint32_t job_id, const char* name) {
    inquest_step step = {};
    step.job_id = job_id;
    step.uid = geteuid();
    step.gid = getegid();
    step.local_task_count = 2;
    std::snprintf(step.name, sizeof step.name, "%s", name);
    return step;
}

std::unique_ptr<inquest_step_packet> start_packet(const inquest_step& step, const std::string& nodes,
                                                  const std::string& report, int* ret_result) {
    auto packet = std::make_unique<inquest_step_packet>();
    inquest_step_packet_begin(packet.get(), INQUEST_STEP_START, &step);
    const char* texts[INQUEST_STEP_TEXTS] = {"n1", nodes.c_str(), report.c_str(), "/b", "A,B", ""};
    *ret_result = inquest_step_packet_add_texts(packet.get(), texts);
    return packet;
}

std::string text_at(const inquest_step_packet& packet, int index) {
    const char* text = packet.texts;
    for (; index > 0; --index) {
        text += std::strlen(text) + 1;
    }
    return text;
}

}  // namespace

TEST_CASE("a start message holds all texts in order") {
    int result = -1;
    inquest_step step = step_of(7, "0");
    auto packet = start_packet(step, "n[1-4]", "/r", &result);
    CHECK(result == 0);
    CHECK(packet->head.magic == INQUEST_STEP_MESSAGE_MAGIC);
    CHECK(packet->head.total_bytes == sizeof packet->head + packet->head.text_bytes);
    CHECK(packet->head.task == INQUEST_STEP_TASK_NONE);
    CHECK(text_at(*packet, INQUEST_STEP_TEXT_NODES) == "n[1-4]");
    CHECK(text_at(*packet, INQUEST_STEP_TEXT_INJECTED) == "A,B");
    CHECK(text_at(*packet, INQUEST_STEP_TEXT_LEFT_ALONE).empty());
}

TEST_CASE("a node list that does not fit is left empty, other texts are not") {
    int result = -1;
    inquest_step step = step_of(7, "0");
    std::string huge(INQUEST_STEP_MESSAGE_MAX_BYTES, 'n');
    auto packet = start_packet(step, huge, "/r", &result);
    CHECK(result == 0);
    CHECK(text_at(*packet, INQUEST_STEP_TEXT_NODES).empty());
    CHECK(text_at(*packet, INQUEST_STEP_TEXT_REPORT) == "/r");
    start_packet(step, "n1", huge, &result);
    CHECK(result == -E2BIG);
}

TEST_CASE("the journal keeps one message after the other, and a new run starts anew") {
    Scratch scratch;
    std::string run = scratch.path("run");
    inquest_step step = step_of(7, "batch");
    int result = -1;
    auto packet = start_packet(step, "n1", "/r", &result);
    REQUIRE(inquest_journal_make(run.c_str(), &step) == 0);
    CHECK(inquest_journal_append(run.c_str(), &step, packet.get()) == 0);
    CHECK(inquest_journal_append(run.c_str(), &step, packet.get()) == 0);
    CHECK(std::filesystem::file_size(run + "/steps/7.batch") == size_t{2} * packet->head.total_bytes);
    REQUIRE(inquest_journal_make(run.c_str(), &step) == 0);
    CHECK(std::filesystem::file_size(run + "/steps/7.batch") == 0);
    inquest_journal_remove(run.c_str(), &step);
    CHECK(inquest_journal_append(run.c_str(), &step, packet.get()) == -ENOENT);
}

TEST_CASE("directories that are links or writable by others are refused") {
    Scratch scratch;
    std::string run = scratch.path("run");
    inquest_step step = step_of(7, "0");
    std::filesystem::create_directory(scratch.path("elsewhere"));
    std::filesystem::create_directory_symlink(scratch.path("elsewhere"), run);
    CHECK(inquest_journal_make(run.c_str(), &step) < 0);
    std::filesystem::remove(run);
    std::filesystem::create_directory(run);
    chmod(run.c_str(), 0777);
    CHECK(inquest_journal_make(run.c_str(), &step) == -EPERM);
    char box[INQUEST_BOX_PATH_BYTES];
    CHECK(inquest_box_directory_make(run.c_str(), &step, box) == -EPERM);
    CHECK(std::filesystem::is_empty(run));
}

TEST_CASE("the box directory grows with the tasks up to a bound") {
    CHECK(inquest_box_directory_bytes(1) == 132u << 20);
    CHECK(inquest_box_directory_bytes(128) == 640u << 20);
    CHECK(inquest_box_directory_bytes(4000000000u) == 1u << 30);
}

TEST_CASE("a box directory that cannot be mounted leaves nothing behind") {
    Scratch scratch;
    std::string run = scratch.path("run");
    inquest_step step = step_of(7, "0");
    char box[INQUEST_BOX_PATH_BYTES] = "";
    if (inquest_box_directory_make(run.c_str(), &step, box) == 0) { /* root may mount */
        CHECK(box == run + "/7.0");
        inquest_box_directory_remove(box);
    }
    CHECK(std::filesystem::is_empty(run));
}
