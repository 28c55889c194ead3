#include <unistd.h>

#include <algorithm>

#include "spank/launch/profile.h"
#include "spank/launch/site_configuration.h"
#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

const std::string kConfigs = INQUEST_TEST_CONFIGS;

}  // namespace

TEST_CASE("the shipped configuration holds the defaults") {
    auto site = read_site_configuration(kConfigs + "/inquest.yaml");
    REQUIRE(site);
    CHECK(site->stall_seconds == SiteConfiguration{}.stall_seconds);
    CHECK(site->profile == SiteConfiguration{}.profile);
    CHECK(site->never_set.empty());
}

TEST_CASE("configuration keys are read, unknown ones ignored") {
    auto site =
        parse_site_configuration("stall_seconds: 30\nprofile: light\nnever_set: [A, B]\ncolour: red\n");
    REQUIRE(site);
    CHECK(site->stall_seconds == 30);
    CHECK(site->profile == "light");
    CHECK(site->never_set == std::vector<std::string>{"A", "B"});
    CHECK(parse_site_configuration(""));
}

TEST_CASE("an impossible configuration is an error, never an exception") {
    for (const char* text : {"[", "- a", "stall_seconds: soon", "stall_seconds: 0", "stall_seconds: -1",
                             "profile: ../x", "profile: ''", "never_set: 5", "{a: b", "\x01\x02"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_site_configuration(text));
    }
    CHECK_FALSE(read_site_configuration("/nonexistent"));
    CHECK_FALSE(read_site_configuration("/dev/zero"));
    CHECK_FALSE(read_site_configuration("/"));
}

TEST_CASE("the standard profile turns the flight recorder on under both names and changes no behaviour") {
    auto profile = read_profile(kConfigs + "/profiles/standard.yaml");
    REQUIRE(profile);
    std::vector<std::string> names;
    for (const ProfileSetting& setting : profile->settings) {
        names.insert(names.end(), setting.names.begin(), setting.names.end());
        CHECK_FALSE(setting.why.empty());
    }
    auto has = [&](const char* name) { return std::count(names.begin(), names.end(), name) == 1; };
    CHECK(has("TORCH_FR_BUFFER_SIZE"));
    CHECK(has("TORCH_NCCL_TRACE_BUFFER_SIZE"));
    CHECK(has("PYTHONFAULTHANDLER"));
    CHECK_FALSE(has("TORCH_NCCL_ASYNC_ERROR_HANDLING"));
}

TEST_CASE("a profile that is not one is an error") {
    for (const char* text :
         {"", "settings: []", "schema: inquest-profile-1\nsettings: [{names: [], value: 1}]",
          "schema: inquest-profile-1\nsettings: [{names: ['A B'], value: 1}]",
          "schema: inquest-profile-1\nsettings: [{names: [A]}]",
          "schema: inquest-profile-1\nsettings: [{names: [A], value: \"a\\nb\"}]"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_profile(text));
    }
}
