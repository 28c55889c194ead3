#include "spank/plugin/options.h"

#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"

namespace {

enum Row { kOn = 0, kOff, kStall, kDirectory };

const inquest_options& fresh() {
    inquest_options_reset();
    fake_spank() = {};
    return *inquest_options_given();
}

int local(Row row, const char* text) {
    return inquest_options_take(row, text, 0);
}

}  // namespace

TEST_CASE("all options are registered") {
    fresh();
    inquest_options_register(fake_handle());
    CHECK(fake_spank().registered ==
          std::vector<std::string>{"inquest", "no-inquest", "inquest-stall", "inquest-dir"});
}

TEST_CASE("without options the site's default decides") {
    const inquest_options& options = fresh();
    CHECK_FALSE(inquest_options_enabled(&options, 0));
    CHECK(inquest_options_enabled(&options, 1));
}

TEST_CASE("the last of --inquest and --no-inquest decides") {
    const inquest_options& options = fresh();
    CHECK(local(kOff, nullptr) == 0);
    CHECK_FALSE(inquest_options_enabled(&options, 1));
    CHECK(local(kOn, "(null)") == 0);
    CHECK(inquest_options_enabled(&options, 0));
    CHECK(local(kOff, nullptr) == 0);
    CHECK_FALSE(inquest_options_enabled(&options, 0));
}

TEST_CASE("a value asks for Inquest, but not against --no-inquest") {
    const inquest_options& options = fresh();
    CHECK(local(kStall, "60") == 0);
    CHECK(inquest_options_enabled(&options, 0));
    CHECK(local(kOff, nullptr) == 0);
    CHECK_FALSE(inquest_options_enabled(&options, 1));
}

TEST_CASE("repeated values are accepted and the last wins") {
    const inquest_options& options = fresh();
    CHECK(local(kStall, "5") == 0);
    CHECK(local(kStall, "5") == 0);
    CHECK(local(kStall, "86400") == 0);
    CHECK(options.stall_seconds == 86400);
    CHECK(local(kDirectory, "/a") == 0);
    CHECK(local(kDirectory, "b c") == 0);
    CHECK(std::string(options.directory) == "b c");
}

TEST_CASE("an impossible value stops the user's command and says what to write") {
    const inquest_options& options = fresh();
    for (const char* text : {"", "0", "-1", "2m", "86401", "99999999999999999999", " 5"}) {
        CHECK(local(kStall, text) == -1);
    }
    CHECK(local(kDirectory, "") == -1);
    CHECK(local(kDirectory, "a\nb") == -1);
    CHECK(local(kDirectory, std::string(INQUEST_DIRECTORY_MAX_BYTES, 'x').c_str()) == -1);
    CHECK(options.stall_seconds == 0);
    CHECK(fake_spank().messages.front().find("--inquest-stall=120") != std::string::npos);
}

TEST_CASE("on a node an impossible value only costs Inquest") {
    const inquest_options& options = fresh();
    CHECK(inquest_options_take(kOn, nullptr, 1) == 0);
    CHECK(inquest_options_take(kStall, "x", 1) == 0);
    CHECK_FALSE(inquest_options_enabled(&options, 1));
    CHECK(inquest_options_take(99, "x", 1) == 0);
}
