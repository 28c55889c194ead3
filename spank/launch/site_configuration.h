/* The site's configuration, /etc/inquest/inquest.yaml (inquest.yaml(5)). Read by inquest-launch only. */
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inquest::launch {

inline constexpr uint32_t kStallMinSeconds = 1;
inline constexpr uint32_t kStallMaxSeconds = 86400;

struct SiteConfiguration {
    uint32_t stall_seconds = 120;
    std::string profile = "standard";
    std::vector<std::string> never_set; /* names that no profile may set at this site */
};

/* Absent keys keep their defaults, unknown keys are ignored; a value that is impossible is an error. */
tl::expected<SiteConfiguration, std::string> parse_site_configuration(const std::string& text);

tl::expected<SiteConfiguration, std::string> read_site_configuration(const std::string& path);

}  // namespace inquest::launch
