#include "spank/plugin/options.h"

#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"

namespace {

enum Row {
    kOn = 0,
    kOff,
    kStall,
    kDirectory,
    kProfile,
    kDeterministic,
    kSeed,
    kNcclDebug,
    kTimeout,
    kOnDivergence
};

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
          std::vector<std::string>{"inquest", "no-inquest", "inquest-stall", "inquest-dir", "inquest-profile",
                                   "inquest-deterministic", "inquest-seed", "inquest-nccl-debug",
                                   "inquest-timeout", "inquest-on-divergence"});
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

TEST_CASE("words are taken in any case and kept as documented") {
    const inquest_options& options = fresh();
    CHECK(local(kProfile, "Deep") == 0);
    CHECK(options.profile == std::string("deep"));
    CHECK(local(kDeterministic, "strict") == 0);
    CHECK(local(kDeterministic, "off") == 0);
    CHECK(options.deterministic == std::string("off"));
    CHECK(local(kNcclDebug, "info") == 0);
    CHECK(options.nccl_debug == std::string("INFO"));
    CHECK(local(kOnDivergence, "cancel") == 0);
    CHECK(options.on_divergence == std::string("cancel"));
    CHECK(inquest_options_enabled(&options, 0));
}

TEST_CASE("words that are none, and near ones, are refused with the list of words") {
    const inquest_options& options = fresh();
    for (Row row : {kProfile, kDeterministic, kNcclDebug, kOnDivergence}) {
        for (const char* text : {"", "on", "none", "lights", " report", "war", "WARN,INFO"}) {
            CHECK(local(row, text) == -1);
        }
    }
    CHECK(options.profile == nullptr);
    CHECK_FALSE(inquest_options_enabled(&options, 0));
    CHECK(fake_spank().messages.front().find("light, standard or deep") != std::string::npos);
}

TEST_CASE("seeds are 32-bit numbers, 0 among them, and are kept in plain decimal") {
    const inquest_options& options = fresh();
    CHECK(local(kSeed, "4294967295") == 0);
    CHECK(options.seed == std::string("4294967295"));
    CHECK(local(kSeed, "007") == 0);
    CHECK(options.seed == std::string("7"));
    CHECK(local(kSeed, "0") == 0);
    CHECK(options.seed == std::string("0"));
    for (const char* text : {"", "4294967296", "-1", "+1", "0x10", "1e3", "none"}) {
        CHECK(local(kSeed, text) == -1);
    }
    CHECK(inquest_options_enabled(&options, 0));
}

TEST_CASE("a timeout is at most a week") {
    const inquest_options& options = fresh();
    CHECK(local(kTimeout, "604800") == 0);
    CHECK(options.timeout_seconds == 604800);
    CHECK(local(kTimeout, "604801") == -1);
    CHECK(local(kTimeout, "0") == -1);
}

TEST_CASE("on a node an impossible value only costs Inquest") {
    const inquest_options& options = fresh();
    CHECK(inquest_options_take(kOn, nullptr, 1) == 0);
    CHECK(inquest_options_take(kStall, "x", 1) == 0);
    CHECK_FALSE(inquest_options_enabled(&options, 1));
    CHECK(inquest_options_take(99, "x", 1) == 0);
}
