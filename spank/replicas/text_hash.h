/* By which hash texts of black boxes are told apart: FNV-1a, 64 bits. Each text is closed off, so that
 * several in a row cannot be taken for others. */
#ifndef INQUEST_SPANK_REPLICAS_TEXT_HASH_H
#define INQUEST_SPANK_REPLICAS_TEXT_HASH_H

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace inquest::replicas {

class TextHash {
 public:
    void add(std::string_view text) {
        for (const char byte : text)
            value_ = (value_ ^ static_cast<unsigned char>(byte)) * kPrime;
        value_ = (value_ ^ 0xffU) * kPrime;
    }
    [[nodiscard]] uint64_t value() const { return value_; }

 private:
    static constexpr uint64_t kPrime = 0x100000001b3U;
    uint64_t value_ = 0xcbf29ce484222325U;
};

inline uint64_t text_hash(std::initializer_list<std::string_view> texts) {
    TextHash hash;
    for (const std::string_view text : texts)
        hash.add(text);
    return hash.value();
}

}  // namespace inquest::replicas

#endif
