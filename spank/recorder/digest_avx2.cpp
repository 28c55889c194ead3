/* The kernel for processors with AVX2 and F16C: four lanes in a register. */
#ifdef __x86_64__
#include <immintrin.h>

#include "digest_sums.h"

#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX2_INLINE AVX2 __attribute__((always_inline)) inline

namespace inquest::recorder {
namespace {

constexpr uint64_t kVectors = 4; /* of 4 words or 4 doubles, for 16 lanes */

AVX2_INLINE __m256i broadcast(uint64_t value) {
    return _mm256_set1_epi64x(static_cast<long long>(value));
}

AVX2_INLINE __m256i load(const uint8_t* data) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

/* (x ^ x >> 32) * factor from 32-bit products: there is no 64-bit one. x >> 32 is the upper half of both. */
AVX2_INLINE __m256i fold_multiply(__m256i x, __m256i factor, __m256i factor_upper) {
    const __m256i upper = _mm256_srli_epi64(x, 32);
    const __m256i folded = _mm256_xor_si256(x, upper);
    const __m256i cross =
        _mm256_add_epi64(_mm256_mul_epu32(upper, factor), _mm256_mul_epu32(folded, factor_upper));
    return _mm256_add_epi64(_mm256_mul_epu32(folded, factor), _mm256_slli_epi64(cross, 32));
}

struct Factors {
    __m256i first, first_upper, second, second_upper;
};

AVX2_INLINE void add_vector(__m256i& lanes, __m256i& product, __m256i words, const Factors& f) {
    const __m256i x = fold_multiply(fold_multiply(words, f.first, f.first_upper), f.second, f.second_upper);
    const __m256i upper = _mm256_srli_epi64(x, 32);
    const __m256i mixed = _mm256_xor_si256(x, upper);
    lanes = _mm256_add_epi64(lanes, mixed);
    product = _mm256_add_epi64(product, _mm256_mul_epu32(mixed, upper));
}

AVX2_INLINE uint64_t total_of(__m256i vector) {
    uint64_t parts[4];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), vector);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

AVX2 void add_words(Sums& sums, const uint8_t* data, uint64_t blocks, uint64_t index) {
    const Factors factors = {broadcast(kFirstFactor), broadcast(kFirstFactor >> 32U),
                             broadcast(kSecondFactor), broadcast(kSecondFactor >> 32U)};
    const __m256i step = broadcast(4 * kIndexFactor);
    __m256i key = _mm256_add_epi64(
        broadcast((index + 1) * kIndexFactor),
        _mm256_set_epi64x(static_cast<long long>(3 * kIndexFactor), static_cast<long long>(2 * kIndexFactor),
                          static_cast<long long>(kIndexFactor), 0));
    __m256i product = _mm256_setzero_si256();
    __m256i lanes[kVectors];
    for (uint64_t v = 0; v < kVectors; v++) {
        lanes[v] = load(reinterpret_cast<const uint8_t*>(sums.lane + 4 * v));
    }
    for (; blocks > 0; blocks--, data += kBlockBytes) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v++) {
            add_vector(lanes[v], product, _mm256_xor_si256(load(data + 32 * v), key), factors);
            key = _mm256_add_epi64(key, step);
        }
    }
    for (uint64_t v = 0; v < kVectors; v++) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums.lane + 4 * v), lanes[v]);
    }
    sums.product += total_of(product);
}

/* Each format gives 16 elements as four vectors of doubles. */
struct Float64 {
    static constexpr uint64_t kBytes = 128;
    AVX2_INLINE static __m256d quarter(const uint8_t* data, uint64_t v) {
        return _mm256_loadu_pd(reinterpret_cast<const double*>(data) + 4 * v);
    }
};
struct Float32 {
    static constexpr uint64_t kBytes = 64;
    AVX2_INLINE static __m256d quarter(const uint8_t* data, uint64_t v) {
        return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(data) + 4 * v));
    }
};
struct Float16 {
    static constexpr uint64_t kBytes = 32;
    AVX2_INLINE static __m256d quarter(const uint8_t* data, uint64_t v) {
        return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(data + 8 * v))));
    }
};
struct Bfloat16 {
    static constexpr uint64_t kBytes = 32;
    AVX2_INLINE static __m256d quarter(const uint8_t* data, uint64_t v) {
        const __m128i bits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(data + 8 * v));
        return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), bits)));
    }
};

template <typename Format>
AVX2 void add_squares(Sums& sums, const uint8_t* data, uint64_t blocks) {
    __m256d squares[kVectors];
    for (uint64_t v = 0; v < kVectors; v++) {
        squares[v] = _mm256_loadu_pd(sums.square + 4 * v);
    }
    for (const uint8_t* end = data + blocks * kBlockBytes; data < end; data += Format::kBytes) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v++) {
            const __m256d values = Format::quarter(data, v);
            squares[v] = _mm256_add_pd(squares[v], _mm256_mul_pd(values, values));
        }
    }
    for (uint64_t v = 0; v < kVectors; v++) {
        _mm256_storeu_pd(sums.square + 4 * v, squares[v]);
    }
}

}  // namespace

const Kernel kAvx2Kernel = {
    add_words,
    {nullptr, add_squares<Float64>, add_squares<Float32>, add_squares<Float16>, add_squares<Bfloat16>}};

bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

}  // namespace inquest::recorder
#endif
