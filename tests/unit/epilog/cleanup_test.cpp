#include "epilog/cleanup.h"

#include <filesystem>

#include "tests/unit/catch.h"
#include "tests/unit/epilog/temporary_directory.h"

namespace inquest::epilog {
namespace {

TEST_CASE("box directories and journals of the job go, those of others stay") {
    const TemporaryDirectory directory;
    for (const char* name : {"7.0", "7.batch", "8.0", "steps"}) {
        std::filesystem::create_directory(directory / name);
    }
    for (const char* name : {"steps/7.0", "steps/7.batch", "steps/8.0", "inquestd.sock"}) {
        directory.write(name, "");
    }
    CHECK(remove_job_traces(directory.path(), 7) == 0);
    CHECK_FALSE(directory.exists("7.0"));
    CHECK_FALSE(directory.exists("7.batch"));
    CHECK_FALSE(directory.exists("steps/7.0"));
    CHECK(directory.exists("8.0"));
    CHECK(directory.exists("steps/8.0"));
    CHECK(directory.exists("inquestd.sock"));
}

TEST_CASE("what is in a box directory is not touched") {
    const TemporaryDirectory directory;
    directory.write("7.0/box", "the user's");
    CHECK(remove_job_traces(directory.path(), 7) == 1);
    CHECK(directory.exists("7.0/box"));
}

TEST_CASE("nothing to remove is fine") {
    const TemporaryDirectory directory;
    CHECK(remove_job_traces(directory / "missing", 7) == 0);
}

}  // namespace
}  // namespace inquest::epilog
