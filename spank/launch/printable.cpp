#include "spank/launch/printable.h"

namespace inquest::launch {
namespace {

struct Sequence {
    unsigned char first_min;
    unsigned char first_max;
    unsigned char second_min;
    unsigned char second_max;
    size_t bytes;
};

/* Table 3-7 of the Unicode standard, without U+0080 to U+009F (C1 controls). */
constexpr Sequence kSequences[] = {
    {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

unsigned char byte_at(std::string_view text, size_t index) {
    return static_cast<unsigned char>(text[index]);
}

bool matches(const Sequence& sequence, std::string_view text) {
    if (text.size() < sequence.bytes || byte_at(text, 0) < sequence.first_min ||
        byte_at(text, 0) > sequence.first_max || byte_at(text, 1) < sequence.second_min ||
        byte_at(text, 1) > sequence.second_max) {
        return false;
    }
    for (size_t index = 2; index < sequence.bytes; ++index) {
        if ((byte_at(text, index) & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

/* Bytes of the printable character at the front, 0 when there is none. */
size_t character_bytes(std::string_view text) {
    unsigned char first = byte_at(text, 0);
    if (first == '\n' || (first >= 0x20 && first < 0x7f)) {
        return 1;
    }
    for (const Sequence& sequence : kSequences) {
        if (matches(sequence, text)) {
            return sequence.bytes;
        }
    }
    return 0;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        size_t bytes = character_bytes(text);
        result += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return result;
}

}  // namespace inquest::launch
