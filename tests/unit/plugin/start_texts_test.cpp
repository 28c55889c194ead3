#include "spank/plugin/start_texts.h"

#include <slurm/slurm.h>

#include <cstring>
#include <memory>

#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"

namespace {

/* The node name and the node list of the start message of a step. */
std::pair<std::string, std::string> names_of(uint32_t step_id, uint32_t node_index) {
    inquest_step step = {};
    step.step_id = step_id;
    step.node_index = node_index;
    auto packet = std::make_unique<inquest_step_packet>();
    inquest_step_packet_begin(packet.get(), INQUEST_STEP_START, &step);
    REQUIRE(inquest_add_start_texts(fake_handle(), "/b", packet.get()) == 0);
    const char* node = packet->texts;
    return {node, node + std::strlen(node) + 1};
}

}  // namespace

TEST_CASE("a node is named by the step's list, not by the environment of the node that started the step") {
    fake_spank() = FakeSpank{};
    fake_spank().environment = {{"SLURMD_NODENAME", "n1"}, {"SLURM_STEP_NODELIST", "n[1-2,7],gpu3"}};
    CHECK(names_of(0, 0).first == "n1");
    CHECK(names_of(0, 2).first == "n7");
    CHECK(names_of(0, 3) == std::pair<std::string, std::string>("gpu3", "n[1-2,7],gpu3"));
}

TEST_CASE("the batch step is named by its own node") {
    fake_spank() = FakeSpank{};
    fake_spank().environment = {{"SLURMD_NODENAME", "n1"}};
    CHECK(names_of(SLURM_BATCH_SCRIPT, 0) == std::pair<std::string, std::string>("n1", "n1"));
}

TEST_CASE("without a usable list the host's name stands in") {
    fake_spank() = FakeSpank{};
    fake_spank().environment = {{"SLURM_STEP_NODELIST", "n[1-2]"}};
    CHECK_FALSE(names_of(0, 2).first.empty());
    CHECK(names_of(0, 2).first.find("n[") == std::string::npos);
}

TEST_CASE("the start message says that a divergence is to cancel the step") {
    fake_spank() = FakeSpank{};
    inquest_step step = {};
    auto packet = std::make_unique<inquest_step_packet>();
    for (const auto& [action, flags] : std::map<std::string, uint32_t>{
             {"report", 0}, {"cancel", INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE}, {"cancelled", 0}}) {
        fake_spank().environment["INQUEST_ON_DIVERGENCE"] = action;
        inquest_step_packet_begin(packet.get(), INQUEST_STEP_START, &step);
        REQUIRE(inquest_add_start_texts(fake_handle(), "/b", packet.get()) == 0);
        CHECK(packet->head.flags == flags);
    }
}
