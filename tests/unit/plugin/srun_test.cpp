#include "spank/plugin/srun.h"

#include <cstdlib>
#include <filesystem>

#include "spank/plugin/options.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"
#include "tests/unit/plugin/scratch.h"

namespace {

/* srun with a helper that answers with `body`. */
void start_srun(const Scratch& scratch, const std::string& body) {
    fake_spank() = {};
    fake_spank().numbers = {{S_JOB_ID, 7}, {S_JOB_STEPID, 3}};
    inquest_options_reset();
    for (const char* name : {"INQUEST_ARMED", "INQUEST_DISARMED", "INQUEST_REPORT_DIR", "A"}) {
        unsetenv(name);
    }
    static std::string launch; /* Slurm keeps the arguments too */
    static std::string notice;
    launch = "launch=" + scratch.program("launch", body);
    notice = "notice=" + scratch.program("notice", "echo \"$@\" > " + scratch.path("notified") + "; cat");
    char* arguments[] = {launch.data(), notice.data()};
    CHECK(inquest_srun_init(fake_handle(), 2, arguments) == 0);
}

std::string variable(const char* name) {
    const char* value = getenv(name);
    return value == nullptr ? "(unset)" : value;
}

std::string text_of(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

const std::string kArmed = "printf 'A=%s\\0INQUEST_REPORT_DIR=/r\\0INQUEST_ARMED=1\\0' \"$4\"";

}  // namespace

TEST_CASE("an armed step gets the answer and a notice helper, which ends with srun") {
    Scratch scratch;
    start_srun(scratch, kArmed);
    inquest_options_take(0, nullptr, 0);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    CHECK(variable("A") == "3");
    CHECK(variable("INQUEST_ARMED") == "1");
    CHECK(inquest_srun_exit() == 0);
    CHECK(inquest_srun_exit() == 0);
    CHECK(text_of(scratch.path("notified")) == "--report /r --step 3\n");
    CHECK(fake_spank().messages.empty());
}

TEST_CASE("for a step without Inquest within an armed one it is asked what to give back") {
    Scratch scratch;
    start_srun(scratch, "printf 'A=%s\\0INQUEST_DISARMED=off\\0' \"$5\"");
    setenv("INQUEST_INJECTED", "A", 1);
    inquest_options_take(1, nullptr, 0);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    unsetenv("INQUEST_INJECTED");
    CHECK(variable("A") == "--off");
    CHECK(fake_spank().messages.empty());
    CHECK_FALSE(std::filesystem::exists(scratch.path("notified")));
}

TEST_CASE("without the option nothing is asked") {
    Scratch scratch;
    start_srun(scratch, kArmed);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    CHECK(variable("INQUEST_ARMED") == "(unset)");
}

TEST_CASE("what an enclosing armed job left in the environment does not arm") {
    Scratch scratch;
    start_srun(scratch, kArmed);
    setenv("INQUEST_ARMED", "1", 1);
    CHECK(inquest_srun_init_post_opt() == 0);
    CHECK(variable("INQUEST_ARMED") == "(unset)");
}

TEST_CASE("a failing helper sets nothing and tells who asked") {
    Scratch scratch;
    start_srun(scratch, kArmed + "; exit 1");
    inquest_options_take(0, nullptr, 0);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    CHECK(variable("A") == "(unset)");
    REQUIRE(fake_spank().messages.size() == 1);
    CHECK(fake_spank().messages[0].find("runs without Inquest") != std::string::npos);
}

TEST_CASE("a reason against arming is passed on") {
    Scratch scratch;
    start_srun(scratch, "printf 'INQUEST_DISARMED=too long\\0'");
    inquest_options_take(0, nullptr, 0);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    CHECK(variable("INQUEST_DISARMED") == "too long");
    REQUIRE(fake_spank().messages.size() == 1);
    CHECK(fake_spank().messages[0].find("too long") != std::string::npos);
}

TEST_CASE("a job that Slurm does not know yet is left alone") {
    Scratch scratch;
    start_srun(scratch, kArmed);
    fake_spank().numbers.clear();
    inquest_options_take(0, nullptr, 0);
    CHECK(inquest_srun_local_user_init(fake_handle()) == 0);
    CHECK(variable("INQUEST_ARMED") == "(unset)");
}
