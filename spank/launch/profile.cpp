#include "spank/launch/profile.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "spank/launch/environment.h"
#include "spank/launch/small_file.h"

namespace inquest::launch {
namespace {

constexpr const char* kSchema = "inquest-profile-1";

ProfileSetting setting_from(const YAML::Node& node) {
    return {.names = node["names"].as<std::vector<std::string>>(),
            .value = node["value"].as<std::string>(),
            .why = node["why"].as<std::string>("")};
}

bool is_usable(const ProfileSetting& setting) {
    return !setting.names.empty() &&
           std::all_of(setting.names.begin(), setting.names.end(), is_variable_name) &&
           !has_control_character(setting.value);
}

tl::expected<Profile, std::string> profile_from(const YAML::Node& document) {
    if (document["schema"].as<std::string>("") != kSchema) {
        return tl::make_unexpected(std::string("schema is not ") + kSchema);
    }
    Profile profile;
    for (const YAML::Node& node : document["settings"]) {
        profile.settings.push_back(setting_from(node));
        if (!is_usable(profile.settings.back())) {
            return tl::make_unexpected(std::string("a setting has no usable name or value"));
        }
    }
    return profile;
}

}  // namespace

tl::expected<Profile, std::string> parse_profile(const std::string& text) {
    try {
        return profile_from(YAML::Load(text));
    } catch (const YAML::Exception& error) {
        return tl::make_unexpected(std::string(error.what()));
    }
}

tl::expected<Profile, std::string> read_profile(const std::string& path) {
    return read_small_file(path).and_then([&](const std::string& text) {
        return parse_profile(text).map_error([&](const std::string& error) { return path + ": " + error; });
    });
}

}  // namespace inquest::launch
