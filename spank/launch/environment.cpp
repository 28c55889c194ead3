#include "spank/launch/environment.h"

#include <algorithm>

namespace inquest::launch {
namespace {

bool is_letter(char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

}  // namespace

Environment environment_from(const char* const* entries) {
    Environment environment;
    for (; *entries != nullptr; ++entries) {
        std::string_view entry = *entries;
        size_t equals = entry.find('=');
        if (equals != std::string_view::npos) {
            environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
        }
    }
    return environment;
}

bool is_variable_name(std::string_view name) {
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [](char byte) { return is_letter(byte) || is_digit(byte); });
}

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char byte) {
        auto value = static_cast<unsigned char>(byte);
        return value < 0x20 || value == 0x7f;
    });
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            break;
        }
        text.remove_prefix(end + 1);
    }
    return parts;
}

}  // namespace inquest::launch
