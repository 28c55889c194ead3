/* Environment variables by name. */
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace inquest::launch {

using Environment = std::map<std::string, std::string>;

/* Copies a NULL-terminated environ; entries without '=' are left out. */
Environment environment_from(const char* const* entries);

/* A name that a shell could assign to. */
bool is_variable_name(std::string_view name);

/* True when a byte could end or split a record, a line or a terminal's state. */
bool has_control_character(std::string_view text);

/* Splits at `separator`; empty parts are kept, an empty text has none. */
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace inquest::launch
