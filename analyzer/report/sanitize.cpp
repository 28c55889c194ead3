#include "analyzer/report/sanitize.h"

#include <cstdint>
#include <utility>

namespace inquest::report {
namespace {

constexpr size_t kMessagesMax = 200;

struct Character {
    uint32_t code = 0;
    size_t bytes = 1;
    bool valid = false;
};

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// RFC 3629: length and payload of the first byte, shortest form only, no surrogates.
Character decode(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80) return {first, 1, true};
    const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
    uint32_t code = first & (0xFFU >> (bytes + 1));
    for (size_t index = 1; index < bytes; ++index) {
        if (!is_continuation(text[index])) return {};
        code = (code << 6U) | (static_cast<unsigned char>(text[index]) & 0x3FU);
    }
    const uint32_t shortest = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < shortest || code > 0x10FFFF || surrogate) return {};
    return {code, bytes, true};
}

bool is_obeyed(uint32_t code) {
    const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
    const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                           code == 0x200E || code == 0x200F;
    const bool breaks_line = code == 0x2028 || code == 0x2029 || code == 0xFEFF;
    return control || direction || breaks_line;
}

void append_printable(std::string& result, std::string_view text, const Character& character) {
    if (character.code == '\n' || character.code == '\t') {
        result += ' ';
    } else if (!character.valid || is_obeyed(character.code)) {
        result += '?';
    } else {
        result += text.substr(0, character.bytes);
    }
}

void make_safe(std::string& text) {
    text = printable(redact(text));
}

void make_safe(std::vector<std::string>& texts) {
    if (texts.size() > kMessagesMax) texts.resize(kMessagesMax);
    for (std::string& text : texts)
        make_safe(text);
}

void make_safe(model::Place& place) {
    make_safe(place.file);
    make_safe(place.function);
}

void make_safe(std::vector<model::Party>& parties) {
    for (model::Party& party : parties) {
        make_safe(party.node);
        make_safe(party.place);
        make_safe(party.why);
    }
}

void make_safe(std::vector<model::Evidence>& items) {
    for (model::Evidence& item : items) {
        make_safe(item.source.source);
        make_safe(item.source.position);
        make_safe(item.text);
    }
}

void make_safe(model::Divergence& divergence) {
    make_safe(divergence.part);
    make_safe(divergence.tensors);
    make_safe(divergence.growth);
}

std::map<std::string, std::optional<std::string>> safe_versions(
    const std::map<std::string, std::optional<std::string>>& versions) {
    std::map<std::string, std::optional<std::string>> result;
    for (const auto& [name, value] : versions) {
        result[printable(name, 64)] = value ? std::optional(printable(redact(*value), 200)) : std::nullopt;
    }
    return result;
}

}  // namespace

std::string printable(std::string_view text, size_t max_bytes) {
    std::string result;
    while (!text.empty()) {
        const Character character = decode(text);
        if (result.size() + character.bytes + 3 > max_bytes) {
            result += "...";
            break;
        }
        append_printable(result, text, character);
        text.remove_prefix(character.bytes);
    }
    return result;
}

model::Diagnosis make_safe(model::Diagnosis diagnosis) {
    make_safe(diagnosis.headline);
    make_safe(diagnosis.summary);
    make_safe(diagnosis.initiating);
    make_safe(diagnosis.collateral);
    make_safe(diagnosis.contributing);
    for (model::ChainLink& link : diagnosis.chain)
        make_safe(link.text);
    make_safe(diagnosis.evidence);
    make_safe(diagnosis.supporting);
    make_safe(diagnosis.against);
    if (diagnosis.missing_fact) make_safe(*diagnosis.missing_fact);
    if (diagnosis.step) make_safe(*diagnosis.step);
    if (diagnosis.divergence) make_safe(*diagnosis.divergence);
    make_safe(diagnosis.notes);
    if (diagnosis.injected) make_safe(*diagnosis.injected);
    diagnosis.versions = safe_versions(diagnosis.versions);
    return diagnosis;
}

}  // namespace inquest::report
