/* The kernel for processors with AVX-512 F and DQ: eight lanes in a register and a 64-bit multiplication. */
#ifdef __x86_64__
#include <immintrin.h>

#include "digest_sums.h"

#define AVX512 __attribute__((target("avx512f,avx512dq")))
#define AVX512_INLINE AVX512 __attribute__((always_inline)) inline

namespace inquest::recorder {
namespace {

constexpr uint64_t kVectors = 2; /* of 8 words or 8 doubles, for 16 lanes */

AVX512_INLINE __m512i broadcast(uint64_t value) {
    return _mm512_set1_epi64(static_cast<long long>(value));
}

AVX512_INLINE __m512i fold(__m512i x) {
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

AVX512_INLINE void add_vector(__m512i& lanes, __m512i& product, __m512i words) {
    const __m512i once = _mm512_mullo_epi64(fold(words), broadcast(kFirstFactor));
    const __m512i twice = _mm512_mullo_epi64(fold(once), broadcast(kSecondFactor));
    const __m512i upper = _mm512_srli_epi64(twice, 32);
    const __m512i mixed = _mm512_xor_si512(twice, upper);
    lanes = _mm512_add_epi64(lanes, mixed);
    product = _mm512_add_epi64(product, _mm512_mul_epu32(mixed, upper));
}

AVX512_INLINE uint64_t total_of(__m512i vector) {
    uint64_t parts[8];
    uint64_t total = 0;
    _mm512_storeu_si512(parts, vector);
    for (const uint64_t part : parts) {
        total += part;
    }
    return total;
}

AVX512 void add_words(Sums& sums, const uint8_t* data, uint64_t blocks, uint64_t index) {
    const __m512i step = broadcast(8 * kIndexFactor);
    const __m512i offsets =
        _mm512_mullo_epi64(_mm512_set_epi64(8, 7, 6, 5, 4, 3, 2, 1), broadcast(kIndexFactor));
    __m512i key = _mm512_add_epi64(broadcast(index * kIndexFactor), offsets);
    __m512i product = _mm512_setzero_si512();
    __m512i lanes[kVectors] = {_mm512_loadu_si512(sums.lane), _mm512_loadu_si512(sums.lane + 8)};
    for (; blocks > 0; blocks--, data += kBlockBytes) {
#pragma GCC unroll 2
        for (uint64_t v = 0; v < kVectors; v++) {
            add_vector(lanes[v], product, _mm512_xor_si512(_mm512_loadu_si512(data + 64 * v), key));
            key = _mm512_add_epi64(key, step);
        }
    }
    _mm512_storeu_si512(sums.lane, lanes[0]);
    _mm512_storeu_si512(sums.lane + 8, lanes[1]);
    sums.product += total_of(product);
}

/* Each format gives 16 elements as two vectors of doubles. */
struct Float64 {
    static constexpr uint64_t kBytes = 128;
    AVX512_INLINE static __m512d half(const uint8_t* data, uint64_t v) {
        return _mm512_loadu_pd(data + 64 * v);
    }
};
struct Float32 {
    static constexpr uint64_t kBytes = 64;
    AVX512_INLINE static __m512d half(const uint8_t* data, uint64_t v) {
        return _mm512_cvtps_pd(_mm256_loadu_ps(reinterpret_cast<const float*>(data) + 8 * v));
    }
};
struct Float16 {
    static constexpr uint64_t kBytes = 32;
    AVX512_INLINE static __m512d half(const uint8_t* data, uint64_t v) {
        const __m256i bits =
            _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + v));
        return _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_cvtph_ps(bits)));
    }
};
struct Bfloat16 {
    static constexpr uint64_t kBytes = 32;
    AVX512_INLINE static __m512d half(const uint8_t* data, uint64_t v) {
        const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + v);
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_castsi128_si256(bits));
        return _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))));
    }
};

template <typename Format>
AVX512 void add_squares(Sums& sums, const uint8_t* data, uint64_t blocks) {
    __m512d squares[kVectors] = {_mm512_loadu_pd(sums.square), _mm512_loadu_pd(sums.square + 8)};
    for (const uint8_t* end = data + blocks * kBlockBytes; data < end; data += Format::kBytes) {
#pragma GCC unroll 2
        for (uint64_t v = 0; v < kVectors; v++) {
            const __m512d values = Format::half(data, v);
            squares[v] = _mm512_add_pd(squares[v], _mm512_mul_pd(values, values));
        }
    }
    _mm512_storeu_pd(sums.square, squares[0]);
    _mm512_storeu_pd(sums.square + 8, squares[1]);
}

}  // namespace

const Kernel kAvx512Kernel = {
    add_words,
    {nullptr, add_squares<Float64>, add_squares<Float32>, add_squares<Float16>, add_squares<Bfloat16>}};

bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

}  // namespace inquest::recorder
#endif
