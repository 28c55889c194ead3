#include "spank/launch/site_configuration.h"

#include <yaml-cpp/yaml.h>

#include "spank/launch/environment.h"
#include "spank/launch/small_file.h"

namespace inquest::launch {
namespace {

SiteConfiguration configuration_from(const YAML::Node& document) {
    SiteConfiguration site;
    if (document["stall_seconds"]) {
        site.stall_seconds = document["stall_seconds"].as<uint32_t>();
    }
    if (document["profile"]) {
        site.profile = document["profile"].as<std::string>();
    }
    if (document["never_set"]) {
        site.never_set = document["never_set"].as<std::vector<std::string>>();
    }
    return site;
}

tl::expected<SiteConfiguration, std::string> checked(SiteConfiguration site) {
    if (site.stall_seconds < kStallMinSeconds || site.stall_seconds > kStallMaxSeconds) {
        return tl::make_unexpected(std::string("stall_seconds is not between 1 and 86400"));
    }
    /* A bare name: it becomes part of a path. */
    if (!is_variable_name(site.profile)) {
        return tl::make_unexpected(std::string("profile is not a plain name"));
    }
    return site;
}

}  // namespace

tl::expected<SiteConfiguration, std::string> parse_site_configuration(const std::string& text) {
    try {
        YAML::Node document = YAML::Load(text);
        if (document.IsNull()) {
            return SiteConfiguration{};
        }
        if (!document.IsMap()) {
            return tl::make_unexpected(std::string("not a mapping"));
        }
        return checked(configuration_from(document));
    } catch (const YAML::Exception& error) {
        return tl::make_unexpected(std::string(error.what()));
    }
}

tl::expected<SiteConfiguration, std::string> read_site_configuration(const std::string& path) {
    return read_small_file(path).and_then([&](const std::string& text) {
        return parse_site_configuration(text).map_error(
            [&](const std::string& error) { return path + ": " + error; });
    });
}

}  // namespace inquest::launch
