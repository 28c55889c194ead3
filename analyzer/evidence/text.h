// Text from hostile bytes, and numbers from text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inquest::evidence {

bool is_valid_utf8(std::string_view bytes);

// Valid UTF-8 without control characters: whatever is neither becomes U+FFFD, except that tabs and line feeds
// stay.
std::string clean_text(std::string_view bytes);

// The whole of `text` as a decimal number (a leading '-' allowed); nullopt when it is anything else.
std::optional<int64_t> parse_integer(std::string_view text);

// "0-3", "0,2,5-7" or "[0, 1, 2]". Empty when the text is anything else or names more than a million ranks.
std::vector<int> parse_rank_list(std::string_view text);

// Slurm's "n[1-4,7],login1" as single names. Empty when it is malformed or names more than 65536 hosts.
std::vector<std::string> expand_host_list(std::string_view text);

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

}  // namespace inquest::evidence
