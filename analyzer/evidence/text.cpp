#include "analyzer/evidence/text.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace inquest::evidence {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_bad_control(unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

// Without a branch per byte: compilers make vector instructions of it.
bool is_printable_ascii(std::string_view bytes) {
    unsigned others = 0;
    for (const char c : bytes)
        others |= static_cast<unsigned char>(c - 0x20) > 0x7E - 0x20 ? 1U : 0U;
    return others == 0;
}

bool is_continuation(std::string_view bytes, size_t at) {
    return at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0U) == 0x80U;
}

// Length of the well-formed sequence at `at`, 0 when it is malformed.
size_t sequence_length(std::string_view bytes, size_t at) {
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead > 0xF4 || length == 0) return 0;
    for (size_t i = 1; i < length; ++i) {
        if (!is_continuation(bytes, at + i)) return 0;
    }
    return length < 2 || is_valid_utf8(bytes.substr(at, length)) ? length : 0;
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
    return simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::string clean_text(std::string_view bytes) {
    if (is_printable_ascii(bytes)) return std::string(bytes);
    const bool has_control = std::any_of(
        bytes.begin(), bytes.end(), [](char c) { return is_bad_control(static_cast<unsigned char>(c)); });
    if (!has_control && is_valid_utf8(bytes)) return std::string(bytes);
    std::string text;
    text.reserve(bytes.size());
    for (size_t at = 0; at < bytes.size();) {
        const size_t length = sequence_length(bytes, at);
        const bool keep = length > 0 && !is_bad_control(static_cast<unsigned char>(bytes[at]));
        text += keep ? bytes.substr(at, length) : kReplacement;
        at += std::max<size_t>(length, 1);
    }
    return text;
}

std::optional<int64_t> parse_integer(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

}  // namespace inquest::evidence
