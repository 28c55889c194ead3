#include "spank/plugin/slurmstepd.h"

#include <slurm/slurm.h>
#include <sys/mount.h>

#include <cstring>

#include "spank/format/step_journal.h"
#include "spank/plugin/box_directory.h"
#include "spank/plugin/options.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"
#include "tests/unit/plugin/scratch.h"

namespace {

/* One step on one node. Root without CAP_SYS_ADMIN and other users cannot mount: then the node must disarm,
 * and `can_mount` says which of the two a test has to expect. */
class Node {
 public:
    Node(uint32_t step_id, const std::string& name, const std::string& launch_body = "exit 1")
        : run_(scratch_.path("run")), socket_(scratch_.path("socket")), box_(run_ + "/7." + name) {
        fake_spank() = {};
        fake_spank().numbers = {{S_JOB_ID, 7},
                                {S_JOB_STEPID, step_id},
                                {S_JOB_UID, geteuid()},
                                {S_JOB_GID, getegid()},
                                {S_JOB_NNODES, 2},
                                {S_JOB_NODEID, 1},
                                {S_JOB_LOCAL_TASK_COUNT, 1},
                                {S_JOB_TOTAL_TASK_COUNT, 2},
                                {S_TASK_GLOBAL_ID, 1},
                                {S_TASK_PID, 4242}};
        inquest_options_reset();
        places_ = {run_.c_str(), socket_.c_str()};
        inquest_slurmstepd_use_places(&places_);
        launch_ = "launch=" + scratch_.program("launch", launch_body);
        char* arguments[] = {launch_.data()};
        CHECK(inquest_slurmstepd_init(fake_handle(), 1, arguments) == 0);
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { inquest_box_directory_remove(box_.c_str()); }

    void run_one_task(int wait_status) {
        CHECK(inquest_slurmstepd_init_post_opt(fake_handle()) == 0);
        CHECK(inquest_slurmstepd_user_init(fake_handle()) == 0);
        CHECK(inquest_slurmstepd_task_post_fork(fake_handle()) == 0);
        fake_spank().exit_status = wait_status;
        CHECK(inquest_slurmstepd_task_exit(fake_handle()) == 0);
        CHECK(inquest_slurmstepd_exit() == 0);
    }

    std::vector<inquest_step_message> journal() const {
        std::ifstream stream(run_ + "/steps" + box_.substr(box_.rfind('/')), std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        std::vector<inquest_step_message> messages;
        for (size_t at = 0; at + sizeof(inquest_step_message) <= bytes.size();
             at += messages.back().total_bytes) {
            messages.emplace_back();
            std::memcpy(&messages.back(), bytes.data() + at, sizeof messages.back());
        }
        return messages;
    }

    bool left_nothing() const { return !std::filesystem::exists(box_) && journal().empty(); }
    const std::string& box() const { return box_; }

 private:
    Scratch scratch_;
    std::string run_;
    std::string socket_;
    std::string box_;
    std::string launch_;
    inquest_node_places places_ = {};
};

bool can_mount() {
    Scratch scratch;
    if (mount("inquest", scratch.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
        return false;
    }
    umount2(scratch.path().c_str(), MNT_DETACH);
    return true;
}

std::string armed() {
    auto found = fake_spank().environment.find("INQUEST_ARMED");
    return found == fake_spank().environment.end() ? "" : found->second;
}

}  // namespace

TEST_CASE("an armed step is journalled from start to end") {
    Node node(0, "0");
    fake_spank().environment = {
        {"INQUEST_ARMED", "1"}, {"INQUEST_STALL_SECONDS", "5"}, {"SLURM_STEP_NODELIST", "n[1-2]"}};
    node.run_one_task(9);
    if (!can_mount()) {
        CHECK(armed().empty());
        CHECK(node.left_nothing());
        return;
    }
    CHECK(fake_spank().environment["INQUEST_BOX_DIR"] == node.box());
    auto messages = node.journal();
    REQUIRE(messages.size() == 4);
    CHECK(messages[0].kind == INQUEST_STEP_START);
    CHECK(messages[0].stall_seconds == 5);
    CHECK(messages[0].node_index == 1);
    CHECK(messages[0].task_count == 2);
    CHECK(messages[1].kind == INQUEST_TASK_START);
    CHECK(messages[1].pid == 4242);
    CHECK(messages[2].kind == INQUEST_TASK_EXIT);
    CHECK(messages[2].wait_status == 9);
    CHECK(messages[3].kind == INQUEST_STEP_END);
}

TEST_CASE("a step that is not armed is not touched") {
    Node node(0, "0");
    node.run_one_task(9);
    CHECK(node.left_nothing());
    CHECK(fake_spank().environment.empty());
}

TEST_CASE("a node takes away what srun could only name, armed or not") {
    Node node(0, "0");
    fake_spank().environment = {{"INQUEST_TAKEN_AWAY", "A,,B,absent"},
                                {"A", "1"},
                                {"B", "2"},
                                {"C", "3"},
                                {"INQUEST_DISARMED", "why"}};
    node.run_one_task(0);
    CHECK(fake_spank().environment ==
          std::map<std::string, std::string>{{"C", "3"}, {"INQUEST_DISARMED", "why"}});
    fake_spank().environment = {{"INQUEST_TAKEN_AWAY", "A," + std::string(8192, 'x')}, {"A", "1"}};
    node.run_one_task(0);
    CHECK(fake_spank().environment == std::map<std::string, std::string>{{"A", "1"}});
}

TEST_CASE("a job does not keep the restarts of the job that submitted it") {
    Node batch(SLURM_BATCH_SCRIPT, "batch");
    fake_spank().environment = {{"SLURM_RESTART_COUNT", "1"}};
    batch.run_one_task(0);
    CHECK(fake_spank().environment.count("SLURM_RESTART_COUNT") == 1); /* it is not armed */
    Node wanted(SLURM_BATCH_SCRIPT, "batch");
    fake_spank().environment = {{"SLURM_RESTART_COUNT", "1"}};
    inquest_options_take(0, nullptr, 1);
    wanted.run_one_task(0);
    CHECK(fake_spank().environment.count("SLURM_RESTART_COUNT") == 0);
    Node step(0, "0");
    fake_spank().environment = {{"SLURM_RESTART_COUNT", "1"}};
    step.run_one_task(0);
    CHECK(fake_spank().environment.count("SLURM_RESTART_COUNT") == 1);
}

TEST_CASE("the extern step is never armed") {
    Node node(SLURM_EXTERN_CONT, "extern");
    fake_spank().environment = {{"INQUEST_ARMED", "1"}};
    node.run_one_task(0);
    CHECK(node.left_nothing());
}

TEST_CASE("a batch step does not inherit that the submitter was armed") {
    Node node(SLURM_BATCH_SCRIPT, "batch");
    fake_spank().environment = {{"INQUEST_ARMED", "1"}};
    node.run_one_task(0);
    CHECK(armed().empty());
    CHECK(node.left_nothing());
}

TEST_CASE("a batch step asks on its node and takes all of the answer") {
    if (geteuid() != 0) {
        return; /* only root may become the job's user */
    }
    Node node(SLURM_BATCH_SCRIPT, "batch", "printf 'A=%s\\0INQUEST_ARMED=1\\0' \"$4\"");
    inquest_options_take(0, nullptr, 1);
    node.run_one_task(0);
    if (can_mount()) {
        CHECK(fake_spank().environment["A"] == "batch");
        CHECK(node.journal().size() == 4);
        CHECK(node.journal()[0].node_count == 1);
    }
}

TEST_CASE("a step whose environment Slurm did not carry asks on its nodes, one that srun disarmed does not") {
    if (geteuid() != 0 || !can_mount()) {
        return;
    }
    const std::string answer = "printf 'A=%s\\0INQUEST_ARMED=1\\0' \"$4\"";
    {
        Node node(2, "2", answer);
        inquest_options_take(0, nullptr, 1);
        node.run_one_task(0);
        CHECK(fake_spank().environment["A"] == "2");
        CHECK(armed() == "1");
    }
    Node node(2, "2", answer);
    inquest_options_take(0, nullptr, 1);
    fake_spank().environment = {{"INQUEST_DISARMED", "a reason that is longer than the buffer"}};
    node.run_one_task(0);
    CHECK(armed().empty());
    CHECK(node.left_nothing());
}

TEST_CASE("a batch step without Inquest loses what the armed job that submitted it had") {
    if (geteuid() != 0) {
        return; /* only root may become the job's user */
    }
    Node node(SLURM_BATCH_SCRIPT, "batch",
              "printf 'INQUEST_TAKEN_AWAY=A,C\\0B=%s\\0INQUEST_DISARMED=off\\0' \"$5\"");
    fake_spank().environment = {{"INQUEST_INJECTED", "A,and many more names"}, {"A", "outer"}};
    inquest_options_take(1, nullptr, 1);
    node.run_one_task(0);
    CHECK(fake_spank().environment.count("A") == 0);
    CHECK(fake_spank().environment["B"] == "--off");
    CHECK(fake_spank().environment.count("INQUEST_TAKEN_AWAY") == 0);
    CHECK(armed().empty());
    CHECK(node.left_nothing());
}

TEST_CASE("a batch step whose helper fails runs without and leaves nothing") {
    Node node(SLURM_BATCH_SCRIPT, "batch");
    inquest_options_take(0, nullptr, 1);
    node.run_one_task(1);
    CHECK(armed().empty());
    CHECK(node.left_nothing());
}
