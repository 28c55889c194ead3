#include "analyzer/evidence/launchers.h"

#include <csignal>

#include "tests/unit/catch.h"

using namespace inquest;
using model::Rank;
using Processes = std::vector<Rank>;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kAgentPid = 800;
constexpr int kStatusOne = 1 << 8;

// A process of the task whose first one is the agent.
Rank process_of(int pid, int parent_pid, int64_t created_s, int64_t last_seen_s) {
    Rank process;
    process.node = "n1";
    process.task = 0;
    process.pid = pid;
    process.parent_pid = parent_pid;
    process.created_wall_ns = created_s * kSecond;
    process.last_progress_wall_ns = last_seen_s * kSecond;
    process.state = INQUEST_STATE_TORCH_IMPORTED;
    return process;
}

Rank agent(int64_t last_seen_s = 100) {
    return process_of(kAgentPid, 1, 1, last_seen_s);
}

Rank worker(int rank, int pid, int64_t created_s, int64_t last_seen_s) {
    Rank process = process_of(pid, kAgentPid, created_s, last_seen_s);
    process.rank = rank;
    process.state = INQUEST_STATE_GROUP_READY;
    return process;
}

model::TaskEnd task_end(int pid, int wait_status) {
    model::TaskEnd end;
    end.task = 0;
    end.pid = pid;
    end.wait_status = wait_status;
    return end;
}

model::ChildEnd child_end(int pid, int wait_status, int64_t at_s, bool was_told = false) {
    return {pid, wait_status, was_told, at_s * kSecond, {"n1/box-800", "events record 7"}};
}

Rank failed_before_its_group(int pid, int parent_pid, const std::string& rank) {
    Rank process = process_of(pid, parent_pid, 3, 4);
    process.state = INQUEST_STATE_CLAIMED;
    process.exit_status = 1;
    process.environment = {{"TORCHELASTIC_RUN_ID", "17"}, {"RANK", rank}, {"WORLD_SIZE", "4"}};
    return process;
}

std::vector<int> ranks_of(const Processes& processes) {
    std::vector<int> ranks;
    for (const Rank& process : processes) {
        if (process.rank) ranks.push_back(*process.rank);
    }
    return ranks;
}

}  // namespace

TEST_CASE("a worker ends as its agent recorded, not as the agent") {
    Processes processes = {agent(), worker(0, 801, 2, 9), worker(1, 802, 2, 9)};
    for (Rank& process : processes)
        process.end = task_end(kAgentPid, kStatusOne);
    processes[0].child_ends = {child_end(802, SIGKILL, 10), child_end(801, SIGTERM, 11, true)};
    evidence::take_ends_from_parents(processes);
    CHECK(processes[0].end->wait_status == kStatusOne);
    CHECK(processes[1].end->wait_status == SIGTERM);
    CHECK(processes[1].end->was_told);
    CHECK(processes[2].end->wait_status == SIGKILL);
    CHECK_FALSE(processes[2].end->was_told);
    CHECK(processes[2].end->parent_source->position == "events record 7");
}

TEST_CASE("where the agent recorded nothing a worker's end is not known") {
    Processes processes = {agent(), worker(0, 801, 2, 9)};
    processes[1].end = task_end(kAgentPid, kStatusOne);
    evidence::take_ends_from_parents(processes);
    CHECK_FALSE(processes[1].end);
}

TEST_CASE("a signal to the launcher's task reached its workers too") {
    Processes processes = {agent(), worker(0, 801, 2, 9)};
    processes[1].end = task_end(kAgentPid, SIGKILL);
    evidence::take_ends_from_parents(processes);
    CHECK(processes[1].end->wait_status == SIGKILL);
}

TEST_CASE("a shell hands on the status of its rank") {
    Processes processes = {worker(0, 801, 2, 9)};
    processes[0].end = task_end(kAgentPid, 137 << 8);
    evidence::take_ends_from_parents(processes);
    CHECK(processes[0].end->wait_status == 137 << 8);
}

TEST_CASE("a record about an earlier process of the same number is not this one's") {
    Processes processes = {agent(), worker(0, 801, 20, 30)};
    processes[0].child_ends = {child_end(801, SIGKILL, 10)};
    evidence::take_ends_from_parents(processes);
    CHECK_FALSE(processes[1].end);
}

TEST_CASE("of several attempts the last one stays") {
    Processes processes = {agent(), worker(0, 801, 2, 9), worker(1, 802, 2, 10), worker(0, 901, 15, 30),
                           worker(1, 902, 16, 31)};
    evidence::leave_out_earlier_attempts(processes);
    REQUIRE(processes.size() == 3);
    CHECK(processes[0].pid == kAgentPid);
    CHECK(processes[1].pid == 901);
    CHECK(processes[2].pid == 902);
}

TEST_CASE("a rank that the last attempt misses is not filled up from an earlier one") {
    Processes processes = {agent(), worker(0, 801, 2, 9), worker(1, 802, 2, 10), worker(0, 901, 15, 30)};
    evidence::leave_out_earlier_attempts(processes);
    CHECK(ranks_of(processes) == std::vector<int>{0});
}

TEST_CASE("an attempt whose ranks never met leaves the earlier one in its place") {
    Processes processes = {agent(), worker(0, 801, 2, 9), process_of(901, kAgentPid, 15, 30)};
    evidence::leave_out_earlier_attempts(processes);
    CHECK(processes.size() == 3);
}

TEST_CASE("two programs side by side are no attempts") {
    Processes processes = {worker(0, 801, 2, 30), worker(0, 901, 5, 31)};
    evidence::leave_out_earlier_attempts(processes);
    CHECK(processes.size() == 2);
}

TEST_CASE("programs that a rank starts are no attempts, whatever rank they have") {
    Processes processes = {worker(0, 801, 2, 199), worker(1, 802, 2, 199), worker(0, 811, 100, 110),
                           worker(0, 812, 203, 210)};
    processes[0].parent_pid = processes[1].parent_pid = 1;
    processes[2].parent_pid = processes[3].parent_pid = 801;
    evidence::leave_out_earlier_attempts(processes);
    CHECK(processes.size() == 4);
}

TEST_CASE("programs one after the other that no launcher started are no attempts") {
    Processes processes = {worker(0, 801, 2, 12), worker(1, 802, 2, 12), worker(0, 901, 13, 30),
                           worker(1, 902, 13, 30)};
    evidence::leave_out_earlier_attempts(processes);
    CHECK(processes.size() == 4);
}

TEST_CASE("attempts on all nodes of one run go together") {
    Processes processes = {worker(0, 801, 2, 9), worker(1, 701, 2, 9), worker(0, 901, 15, 30)};
    processes[1].node = "n2";
    for (Rank& process : processes)
        process.environment = {{"TORCHELASTIC_RUN_ID", "17"}};
    evidence::leave_out_earlier_attempts(processes);
    REQUIRE(processes.size() == 1);
    CHECK(processes[0].pid == 901);
}

TEST_CASE("what has no box of its own is no attempt and belongs to none") {
    Processes processes = {agent(), worker(0, 801, 2, 9), worker(0, 901, 15, 30), worker(0, 0, 0, 0)};
    processes[3].parent_pid = 0;
    evidence::leave_out_earlier_attempts(processes);
    REQUIRE(processes.size() == 3);
    CHECK(processes[1].pid == 901);
}

TEST_CASE("a process that was still there when the next one began is no earlier attempt") {
    Processes processes = {agent(), worker(0, 801, 2, 9), worker(0, 901, 15, 30)};
    processes[1].sample.emplace().gone_wall_ns = 20 * kSecond;
    evidence::leave_out_earlier_attempts(processes);
    CHECK(processes.size() == 3);
}

TEST_CASE("a task that ended its pool before it failed has the task's number") {
    Processes processes = {process_of(801, 1, 2, 9)};
    processes[0].end = task_end(801, kStatusOne);
    processes[0].child_ends = {child_end(811, SIGTERM, 5, true)};
    evidence::number_failed_ranks(processes);
    CHECK(processes[0].rank == 0);
}

TEST_CASE("a worker that failed before it joined a group has torchrun's number") {
    Processes processes = {agent(), failed_before_its_group(801, kAgentPid, "3")};
    processes[0].end = task_end(kAgentPid, kStatusOne);
    evidence::number_failed_ranks(processes);
    CHECK_FALSE(processes[0].rank);
    CHECK(processes[1].rank == 3);
    CHECK(processes[1].world_size == 4);
}

TEST_CASE("a worker's own children are no ranks") {
    Processes processes = {agent(), failed_before_its_group(801, kAgentPid, "3"),
                           failed_before_its_group(803, 801, "3"), failed_before_its_group(804, 801, "x")};
    processes[1].exit_status.reset();
    evidence::number_failed_ranks(processes);
    CHECK(ranks_of(processes).empty());
}

TEST_CASE("an agent whose workers died without a box is no rank") {
    Processes processes = {agent()};
    processes[0].end = task_end(kAgentPid, kStatusOne);
    processes[0].child_ends = {child_end(801, kStatusOne, 10)};
    evidence::number_failed_ranks(processes);
    CHECK_FALSE(processes[0].rank);
}
