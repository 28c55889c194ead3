#include "spank/launch/settings.h"

#include <algorithm>
#include <set>

#include "spank/launch/placeholders.h"
#include "spank/launch/settings_text.h"
#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

const std::string kHead = "schema: inquest-settings-1\ngroup: G\nsettings:\n";

std::string entry(const std::string& how_and_values, const std::string& when = "{}") {
    return kHead + "  - {id: a, when: " + when + ", " + how_and_values +
           ", what: w, why: y, cost: c, since: s}\n";
}

std::vector<Setting> shipped() {
    auto settings = read_settings(INQUEST_TEST_CONFIGS "/settings");
    REQUIRE(settings);
    return *settings;
}

/* Every combination of options that conditions know. */
std::vector<Parameters> all_parameters() {
    std::vector<Parameters> all;
    for (auto profile : kProfiles) {
        for (auto deterministic : kDeterministicModes) {
            for (bool more : {false, true}) {
                Parameters parameters = {std::string(profile), std::string(deterministic), {}, {}, {}};
                if (more) {
                    parameters.seed = 1;
                    parameters.nccl_debug = "INFO";
                    parameters.timeout_seconds = 5;
                }
                all.push_back(parameters);
            }
        }
    }
    return all;
}

std::set<std::string> names_set_for(const Parameters& parameters) {
    std::set<std::string> names;
    for (const Setting& setting : shipped()) {
        for (const auto& [name, value] : setting.values) {
            if (setting.how != How::kHook && applies(setting.when, parameters)) {
                CAPTURE(name);
                CHECK((names.insert(name).second || setting.how != How::kSet));
            }
        }
    }
    return names;
}

}  // namespace

TEST_CASE("shipped settings have ids of their own and set no variable twice, whatever is asked for") {
    std::set<std::string> ids;
    for (const Setting& setting : shipped()) {
        CHECK(ids.insert(setting.id).second);
    }
    for (const Parameters& parameters : all_parameters()) {
        CHECK(names_set_for(parameters).count("PYTHONPATH") == 1);
    }
}

TEST_CASE("no profile sets what changes results, what costs time or what prints") {
    for (auto profile : kProfiles) {
        std::set<std::string> names = names_set_for({std::string(profile), "off", {}, {}, {}});
        for (const char* name :
             {"CUBLAS_WORKSPACE_CONFIG", "NCCL_ALGO", "PYTHONHASHSEED", "XLA_FLAGS", "NCCL_DEBUG",
              "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "MKL_CBWR"}) {
            CAPTURE(name);
            CHECK(names.count(name) == 0);
        }
    }
}

TEST_CASE("the standard profile turns the flight recorder on under both names") {
    std::set<std::string> names = names_set_for({"standard", "off", {}, {}, {}});
    CHECK(names.count("TORCH_FR_BUFFER_SIZE") == 1);
    CHECK(names.count("TORCH_NCCL_TRACE_BUFFER_SIZE") == 1);
    CHECK(names_set_for({"light", "off", {}, {}, {}}).count("TORCH_FR_BUFFER_SIZE") == 0);
}

TEST_CASE("warn sets nothing that makes a program fail") {
    std::set<std::string> warn = names_set_for({"standard", "warn", {}, {}, {}});
    std::set<std::string> strict = names_set_for({"standard", "strict", {}, {}, {}});
    CHECK(std::includes(strict.begin(), strict.end(), warn.begin(), warn.end()));
    for (const char* name :
         {"NCCL_ALGO", "TF_DETERMINISTIC_OPS", "XLA_FLAGS", "NVTE_ALLOW_NONDETERMINISTIC_ALGO"}) {
        CHECK(warn.count(name) == 0);
        CHECK(strict.count(name) == 1);
    }
    CHECK(warn.count("CUBLAS_WORKSPACE_CONFIG") == 1);
}

TEST_CASE(
    "NCCL's messages go into the box directory, without the subsystems that write a line per operation") {
    for (const Setting& setting : shipped()) {
        for (const auto& [name, value] : setting.values) {
            if (name == "NCCL_DEBUG_FILE") {
                CHECK(value.rfind("{box_dir}/", 0) == 0);
            }
            if (name == "NCCL_DEBUG_SUBSYS") {
                for (const char* subsystem : {"ALL", "COLL", "P2P", "CALL", "PROXY", "TUNING", "ALLOC"}) {
                    CHECK(value.find(subsystem) == std::string::npos);
                }
            }
        }
    }
}

TEST_CASE("placeholders are filled in") {
    const Context context = {{"standard", "off", 7, "INFO", 61}, "/box", "/hook"};
    CHECK(rendered("{box_dir}/x_%h-{seed}", context) == "/box/x_%h-7");
    CHECK(rendered("{hook_dir} {nccl_debug} {timeout_seconds} {timeout_minutes}", context) ==
          "/hook INFO 61 2");
    CHECK(rendered("plain", context) == "plain");
    CHECK(rendered("{heartbeat_seconds}", context) == "600");
    CHECK(rendered("{heartbeat_seconds}", {{"standard", "off", {}, {}, 3600}, "", ""}) == "3720");
    CHECK(unknown_placeholder("{seed}{sead}") == "sead");
    CHECK(unknown_placeholder("{seed") == std::nullopt);
    CHECK(rendered("a{seed", context) == "a7");
}

TEST_CASE("a condition holds when all that it says holds") {
    When when;
    CHECK(applies(when, {"light", "off", {}, {}, {}}));
    when.profile = {"standard", "deep"};
    CHECK_FALSE(applies(when, {"light", "off", {}, {}, {}}));
    when.seed = false;
    CHECK(applies(when, {"deep", "off", {}, {}, {}}));
    CHECK_FALSE(applies(when, {"deep", "off", 0, {}, {}}));
    when.nccl_debug = {"INFO"};
    CHECK_FALSE(applies(when, {"deep", "off", {}, {}, {}}));
    CHECK(applies(when, {"deep", "off", {}, "INFO", {}}));
}

TEST_CASE("only the files that may apply need to be read") {
    for (const Parameters& parameters : all_parameters()) {
        auto wanted = read_settings(INQUEST_TEST_CONFIGS "/settings",
                                    [&](const std::string& name) { return may_apply(name, parameters); });
        REQUIRE(wanted);
        const auto ids = [&](const std::vector<Setting>& settings) {
            std::vector<std::string> found;
            for (const Setting& setting : settings) {
                if (applies(setting.when, parameters)) {
                    found.push_back(setting.id);
                }
            }
            return found;
        };
        CHECK(ids(*wanted) == ids(shipped()));
    }
    auto plain = read_settings(INQUEST_TEST_CONFIGS "/settings", [](const std::string& name) {
        return may_apply(name, {"standard", "off", {}, {}, {}});
    });
    REQUIRE(plain);
    CHECK(plain->size() < shipped().size());
}

TEST_CASE("a settings file that is not one is an error that says where, never an exception") {
    CHECK(parse_settings(entry("how: set, values: {A: '1'}")));
    CHECK(parse_settings(entry("how: hook, values: {torch.f: '(1)'}")));
    CHECK(parse_settings(entry("how: append, separator: ' ', values: {A: '1'}", "{profile: [deep]}")));
    for (const std::string& text :
         {std::string(), std::string("["), std::string("settings: []"), entry("how: set, values: {}"),
          entry("how: set"), entry("how: set, values: {A B: 1}"), entry("how: set, values: {A: \"a\\nb\"}"),
          entry("how: set, values: {A: '{nothing}'}"), entry("how: often, values: {A: 1}"),
          entry("how: append, values: {A: 1}"), entry("how: set, values: {A: 1}", "{profile: [standart]}"),
          entry("how: set, values: {A: 1}", "{seed: 5}"), entry("how: set, values: {A: 1}", "{moon: full}"),
          entry("how: set, values: {A: 1}, colour: red"), entry("how: set, values: {A: [1]}")}) {
        CAPTURE(text);
        CHECK_FALSE(parse_settings(text));
    }
    CHECK(parse_settings(entry("how: often, values: {A: 1}")).error().rfind("setting at line 4: ", 0) == 0);
    CHECK_FALSE(read_settings("/nonexistent"));
}

TEST_CASE("the settings are explained, and what became of them in a step") {
    const std::string plain = settings_text(shipped(), std::nullopt);
    CHECK(plain.find("NCCL_ALGO=Ring\n") != std::string::npos);
    CHECK(plain.find("    here ") == std::string::npos);
    auto settings = parse_settings(entry("how: set, values: {A: '1', B: '1'}", "{seed: given}"));
    REQUIRE(settings);
    const auto fate = [&](const StepNames& step) {
        const std::string text = settings_text(*settings, step);
        return text.substr(text.find("    here") + 14);
    };
    CHECK(fate({{"A", "B"}, {}}) == "set: A, B\n");
    CHECK(fate({{"C"}, {"B"}}) == "left alone: the job's user had set B\n");
    CHECK(fate({{"C"}, {}}) == "not set: its condition did not hold, or never_set keeps it out\n");
}
