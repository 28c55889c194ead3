#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

extern "C" {
#include "spank/recorder/identity.h"
}
#include "spank/recorder/inquest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/box_fixture.h"

using namespace inquest::recorder_test;

TEST_CASE("a claimed box names its process and is complete") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        setenv("SLURM_JOB_ID", "4711", 1);
        setenv("SLURM_STEP_ID", "3", 1);
        setenv("SLURM_PROCID", "7", 1);
        unsetenv("SLURM_NODEID");
        return inquest_box_claim(directory.path().c_str(), "/home/ada/train.py") == 0 ? 0 : 1;
    });
    REQUIRE(status == 0);
    REQUIRE(directory.files().size() == 1);
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    const inquest_box_header& header = box->header();
    CHECK(directory.files().front() == directory.path() + "/box-" + std::to_string(header.pid) + "-" +
                                           std::to_string(header.start_time_ticks) + ".ibb");
    CHECK(header.parent_pid == getpid());
    CHECK(header.job_id == 4711);
    CHECK(header.step_id == 3);
    CHECK(header.task == 7);
    CHECK(header.node_index == -1);
    CHECK(std::string(header.program) == "/home/ada/train.py");
    CHECK(header.ring[2].offset_bytes == header.ring[1].offset_bytes + header.ring[1].capacity * 128ULL);
    CHECK(header.ring[2].offset_bytes + header.ring[2].capacity * 128ULL == header.total_bytes);
    CHECK(box->live().rank == -1);
    CHECK(box->live().state == INQUEST_STATE_CLAIMED);
    REQUIRE(box->records(INQUEST_RING_EVENTS).size() == 1);
    CHECK(box->records(INQUEST_RING_EVENTS)[0].kind == INQUEST_KIND_STATE);
}

TEST_CASE("a box is private, preallocated and claimed once") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        const char* path = directory.path().c_str();
        return inquest_box_claim(path, nullptr) == 0 && inquest_box_claim(path, nullptr) == 0 ? 0 : 1;
    });
    REQUIRE(status == 0);
    REQUIRE(directory.files().size() == 1);
    struct stat file {};
    REQUIRE(stat(directory.files().front().c_str(), &file) == 0);
    CHECK((file.st_mode & 07777) == 0600);
    CHECK(file.st_size == INQUEST_BOX_TOTAL_BYTES);
    CHECK(file.st_blocks * 512 >= INQUEST_BOX_TOTAL_BYTES);
}

TEST_CASE("a box that does not fit leaves nothing behind and the process runs on") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{4096, 4096};
        setrlimit(RLIMIT_FSIZE, &limit);
        const int error = inquest_box_claim(directory.path().c_str(), nullptr);
        return error == -EFBIG && inquest_box_is_claimed() == 0 &&
                       inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, nullptr, nullptr) ==
                           -ENODEV &&
                       inquest_box_intern("text", 4) == INQUEST_BOX_NO_STRING
                   ? 0
                   : 1;
    });
    CHECK(status == 0);
    CHECK(directory.files().empty());
}

TEST_CASE("an absent directory or an absent name is an error, not a crash") {
    CHECK(run_in_child([] { return inquest_box_claim("/nonexistent/box", nullptr) == -ENOENT ? 0 : 1; }) ==
          0);
    CHECK(run_in_child([] {
              unsetenv("INQUEST_BOX_DIR");
              return inquest_box_claim(nullptr, nullptr) == -ENOENT ? 0 : 1;
          }) == 0);
}

TEST_CASE("a link in the place of the box is not followed") {
    TemporaryDirectory directory;
    TemporaryDirectory elsewhere;
    const std::string target = elsewhere.path() + "/target";
    const int status = run_in_child([&] {
        uint64_t start = 0;
        inquest_identity_start_time(&start);
        const std::string name = "/box-" + std::to_string(getpid()) + "-" + std::to_string(start) + ".ibb";
        if (symlink(target.c_str(), (directory.path() + name).c_str()) != 0) {
            return 2;
        }
        return inquest_box_claim(directory.path().c_str(), nullptr) == -EEXIST ? 0 : 1;
    });
    CHECK(status == 0);
    CHECK(access(target.c_str(), F_OK) != 0);
    CHECK(directory.files().size() == 1);
}

TEST_CASE("the exit status is that of exit(), and _exit leaves none") {
    TemporaryDirectory directory;
    const int status = run_in_child([&]() -> int {
        inquest_box_claim(directory.path().c_str(), nullptr);
        std::exit(259);
    });
    CHECK(WEXITSTATUS(status) == 3);
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    CHECK(box->live().exit_status == 3);
    CHECK(box->live().state == INQUEST_STATE_EXITED);
    CHECK(box->records(INQUEST_RING_EVENTS).back().kind == INQUEST_KIND_EXIT);
}
