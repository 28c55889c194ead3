/* Reads a configuration file whole, within a bound. */
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace inquest::launch {

inline constexpr size_t kConfigurationMaxBytes = size_t{256} * 1024;

/* The file's text; an error, without the path, when it cannot be read or is larger than
 * kConfigurationMaxBytes. Never blocks on a pipe. */
tl::expected<std::string, std::string> read_small_file(const std::string& path);

}  // namespace inquest::launch
