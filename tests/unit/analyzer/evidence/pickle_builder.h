// Writes pickles: protocol 2 with the opcodes of torch::jit::Pickler, and single opcodes for damage on
// purpose.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace inquest::testing {

class PickleBuilder {
 public:
    PickleBuilder() : bytes_("\x80\x02") {}

    PickleBuilder& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    PickleBuilder& none() { return raw("N"); }
    PickleBuilder& boolean(bool value) { return raw(value ? "\x88" : "\x89"); }
    PickleBuilder& integer(int64_t value) {
        if (value >= 0 && value < 256) return raw("K").little(static_cast<uint64_t>(value), 1);
        if (value >= 0 && value < 65536) return raw("M").little(static_cast<uint64_t>(value), 2);
        if (value >= INT32_MIN && value <= INT32_MAX) return raw("J").little(static_cast<uint64_t>(value), 4);
        return raw("\x8A").little(8, 1).little(static_cast<uint64_t>(value), 8);
    }
    // Each distinct text is written once and fetched from the memo afterwards, as torch does.
    PickleBuilder& text(std::string_view value) {
        const auto [at, is_new] = memo_.emplace(value, memo_.size());
        if (is_new) return raw("X").little(value.size(), 4).raw(value).put(at->second);
        return at->second < 256 ? raw("h").little(at->second, 1) : raw("j").little(at->second, 4);
    }
    PickleBuilder& begin_dict() { return raw("}("); }
    PickleBuilder& end_dict() { return raw("u"); }
    PickleBuilder& begin_list() { return raw("]("); }
    PickleBuilder& end_list() { return raw("e"); }
    PickleBuilder& pair() { return raw("\x86"); }  // of the last two values
    std::string stop() { return bytes_ + "."; }
    const std::string& bytes() const { return bytes_; }

    PickleBuilder& little(uint64_t value, int size) {
        for (int i = 0; i < size; ++i)
            bytes_.push_back(static_cast<char>(value >> (8 * i)));
        return *this;
    }
    PickleBuilder& put(size_t index) {
        return index < 256 ? raw("q").little(index, 1) : raw("r").little(index, 4);
    }

 private:
    std::string bytes_;
    std::unordered_map<std::string, size_t> memo_;
};

}  // namespace inquest::testing
