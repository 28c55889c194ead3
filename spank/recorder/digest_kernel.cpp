/* The kernel that runs everywhere, and the choice among those that this processor can run. */
#include <string.h>

#include "digest_sums.h"
#include "inquest.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are little endian");

namespace inquest::recorder {
namespace {

template <typename Value>
Value load(const uint8_t* data) {
    Value value;
    memcpy(&value, data, sizeof value);
    return value;
}

float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double float16_value(uint16_t bits) {
    const uint32_t exponent = (bits >> 10U) & 0x1fU;
    const uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) {
        return fraction * 0x1p-24;
    }
    if (exponent == 31) {
        return float_of_bits(0x7f800000U | fraction << 13U);
    }
    return float_of_bits((exponent + 112U) << 23U | fraction << 13U);
}

struct Float64 {
    using Bits = double;
    static double value(double element) { return element; }
};
struct Float32 {
    using Bits = float;
    static double value(float element) { return element; }
};
struct Float16 { /* the sign does not matter for a square */
    using Bits = uint16_t;
    static double value(uint16_t element) { return float16_value(element); }
};
struct Bfloat16 {
    using Bits = uint16_t;
    static double value(uint16_t element) { return float_of_bits(static_cast<uint32_t>(element) << 16U); }
};

template <typename Format>
double square_at(const uint8_t* element) {
    const double value = Format::value(load<typename Format::Bits>(element));
    return value * value;
}

template <typename Format>
void add_squares(Sums& sums, const uint8_t* data, uint64_t blocks) {
    constexpr uint64_t element_bytes = sizeof(typename Format::Bits);
    const uint64_t elements = blocks * kBlockBytes / element_bytes;
    for (uint64_t e = 0; e < elements; e++) {
        sums.square[e % kLanes] += square_at<Format>(data + e * element_bytes);
    }
}

void add_words(Sums& sums, const uint8_t* data, uint64_t blocks, uint64_t index) {
    for (uint64_t i = 0; i < blocks * kLanes; i++) {
        add_word(sums, load<uint64_t>(data + i * sizeof(uint64_t)), index + i);
    }
}

}  // namespace

const Kernel& portable_kernel() {
    static constexpr Kernel kernel = {
        add_words,
        {nullptr, add_squares<Float64>, add_squares<Float32>, add_squares<Float16>, add_squares<Bfloat16>}};
    return kernel;
}

double square_of(uint32_t kind, const uint8_t* element) {
    switch (kind) {
        case INQUEST_ELEMENT_FLOAT64:
            return square_at<Float64>(element);
        case INQUEST_ELEMENT_FLOAT32:
            return square_at<Float32>(element);
        case INQUEST_ELEMENT_FLOAT16:
            return square_at<Float16>(element);
        case INQUEST_ELEMENT_BFLOAT16:
            return square_at<Bfloat16>(element);
        default:
            return 0;
    }
}

const Kernel& best_kernel() {
    const Kernel* fastest = avx512_kernel();
    fastest = fastest != nullptr ? fastest : avx2_kernel();
    return fastest != nullptr ? *fastest : portable_kernel();
}

}  // namespace inquest::recorder
