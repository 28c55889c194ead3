#include "spank/launch/settings.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "spank/launch/configuration_files.h"
#include "spank/launch/environment.h"
#include "spank/launch/placeholders.h"
#include "spank/launch/small_file.h"

namespace inquest::launch {
namespace {

constexpr const char* kSchema = "inquest-settings-1";

/* Leaves this file only as the text of an error. */
class Broken : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& what) {
    throw Broken(what);
}

void require_known_keys(const YAML::Node& map, const std::set<std::string>& known, const std::string& where) {
    for (const auto& entry : map) {
        const std::string& key = entry.first.Scalar();
        if (known.count(key) == 0) {
            fail(std::string(where).append(": unknown key ").append(key));
        }
    }
}

template <size_t kCount>
std::vector<std::string> words_from(const YAML::Node& node,
                                    const std::array<std::string_view, kCount>& known) {
    std::vector<std::string> words;
    for (const YAML::Node& item : node) {
        words.push_back(item.as<std::string>());
        if (std::find(known.begin(), known.end(), words.back()) == known.end()) {
            fail("when: there is no " + words.back());
        }
    }
    return words;
}

std::optional<bool> presence_from(const YAML::Node& node) {
    if (!node) {
        return std::nullopt;
    }
    const std::string& word = node.Scalar();
    if (word != "given" && word != "absent") {
        fail("when: write given or absent");
    }
    return word == "given";
}

When when_from(const YAML::Node& node) {
    if (!node.IsMap()) {
        fail("when is missing");
    }
    require_known_keys(node, {"profile", "deterministic", "nccl_debug", "seed", "timeout"}, "when");
    return {.profile = words_from(node["profile"], kProfiles),
            .deterministic = words_from(node["deterministic"], kDeterministicModes),
            .nccl_debug = words_from(node["nccl_debug"], kNcclDebugLevels),
            .seed = presence_from(node["seed"]),
            .timeout = presence_from(node["timeout"])};
}

How how_from(const std::string& word) {
    static const std::map<std::string, How> words = {
        {"set", How::kSet}, {"append", How::kAppend}, {"prepend", How::kPrepend}, {"hook", How::kHook}};
    auto found = words.find(word);
    if (found == words.end()) {
        fail("how is set, append, prepend or hook");
    }
    return found->second;
}

std::string text_from(const YAML::Node& node, const char* key) {
    auto text = node[key].as<std::string>("");
    if (text.empty()) {
        fail(std::string(key) + " is missing");
    }
    return text;
}

void add_values(const YAML::Node& node, Setting& setting) {
    for (const auto& entry : node) {
        setting.values.emplace_back(entry.first.as<std::string>(), entry.second.as<std::string>());
        const auto& [name, value] = setting.values.back();
        if (auto unknown = unknown_placeholder(value)) {
            fail("there is no placeholder {" + *unknown + "}");
        }
        if (setting.how != How::kHook && (!is_variable_name(name) || has_control_character(value))) {
            fail("no usable variable " + name);
        }
    }
    if (setting.values.empty()) {
        fail("values are missing");
    }
}

Setting setting_from(const YAML::Node& node, const std::string& group) {
    Setting setting;
    setting.id = text_from(node, "id");
    setting.group = group;
    require_known_keys(node, {"id", "when", "how", "separator", "values", "what", "why", "cost", "since"},
                       setting.id);
    setting.when = when_from(node["when"]);
    setting.how = how_from(text_from(node, "how"));
    bool joins = setting.how == How::kAppend || setting.how == How::kPrepend;
    setting.separator = joins ? text_from(node, "separator") : "";
    add_values(node["values"], setting);
    setting.what = text_from(node, "what");
    setting.why = text_from(node, "why");
    setting.cost = text_from(node, "cost");
    setting.since = text_from(node, "since");
    return setting;
}

std::vector<Setting> settings_from(const YAML::Node& document) {
    if (!document.IsMap() || document["schema"].as<std::string>("") != kSchema) {
        fail(std::string("schema is not ") + kSchema);
    }
    const std::string group = text_from(document, "group");
    std::vector<Setting> settings;
    for (const YAML::Node& node : document["settings"]) {
        const int line = node.Mark().line + 1;
        try {
            settings.push_back(setting_from(node, group));
        } catch (const std::runtime_error& error) { /* ours and YAML's */
            fail("setting at line " + std::to_string(line) + ": " + error.what());
        }
    }
    return settings;
}

bool holds(const std::vector<std::string>& words, const std::string& word) {
    return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

bool holds(std::optional<bool> asked, bool given) {
    return !asked || *asked == given;
}

}  // namespace

bool applies(const When& when, const Parameters& parameters) {
    return holds(when.profile, parameters.profile) && holds(when.deterministic, parameters.deterministic) &&
           holds(when.nccl_debug, parameters.nccl_debug.value_or("")) &&
           holds(when.seed, parameters.seed.has_value()) &&
           holds(when.timeout, parameters.timeout_seconds.has_value());
}

tl::expected<std::vector<Setting>, std::string> parse_settings(const std::string& text) {
    try {
        return settings_from(YAML::Load(text));
    } catch (const std::runtime_error& error) {
        return tl::make_unexpected(std::string(error.what()));
    }
}

bool may_apply(const std::string& file_name, const Parameters& parameters) {
    const std::map<std::string, bool> options = {
        {"deterministic.yaml", parameters.deterministic != kDeterministicModes.front()},
        {"nccl-debug.yaml", parameters.nccl_debug.has_value()},
        {"seed.yaml", parameters.seed.has_value()},
        {"timeout.yaml", parameters.timeout_seconds.has_value()}};
    auto found = options.find(file_name);
    return found == options.end() || found->second;
}

tl::expected<std::vector<Setting>, std::string> read_settings(const std::string& directory,
                                                              const IsWanted& is_wanted) {
    std::vector<Setting> all;
    for (const std::string& path : yaml_files_in(directory)) {
        if (!is_wanted(std::filesystem::path(path).filename())) {
            continue;
        }
        auto settings = read_small_file(path).and_then(parse_settings);
        if (!settings) {
            return tl::make_unexpected(path + ": " + settings.error());
        }
        all.insert(all.end(), settings->begin(), settings->end());
    }
    if (all.empty()) {
        return tl::make_unexpected(directory + ": no settings");
    }
    return all;
}

}  // namespace inquest::launch
