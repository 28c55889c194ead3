/* The kernel for processors with AVX2, F16C and FMA: four lanes in a register. */
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#include "digest_sums.h"

#define AVX2 __attribute__((target("avx2,f16c,fma")))
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

/* (x ^ x >> 32) * factor from products of 32 bits: there is no wider one. x >> 32 is the upper half of both.
 */
AVX2_INLINE __m256i fold_multiply(__m256i x, __m256i factor) {
    const __m256i upper = _mm256_srli_epi64(x, 32);
    const __m256i folded = _mm256_xor_si256(x, upper);
    return _mm256_add_epi64(_mm256_mul_epu32(folded, factor),
                            _mm256_slli_epi64(_mm256_mul_epu32(upper, factor), 32));
}

AVX2_INLINE void add_vector(__m256i& lanes, __m256i& product, __m256i words) {
    const __m256i once = fold_multiply(words, broadcast(kFirstFactor));
    const __m256i twice = fold_multiply(once, broadcast(kSecondFactor));
    const __m256i upper = _mm256_srli_epi64(twice, 32);
    const __m256i mixed = _mm256_xor_si256(twice, upper);
    lanes = _mm256_add_epi64(lanes, mixed);
    product = _mm256_add_epi64(product, _mm256_mul_epu32(mixed, upper));
}

AVX2_INLINE uint64_t total_of(__m256i vector) {
    uint64_t parts[4];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), vector);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

AVX2 void add_words(Sums& sums, const uint8_t* data, uint64_t blocks, uint64_t index) {
    const __m256i step = broadcast(4 * kIndexFactor);
    const uint64_t keys[4] = {(index + 1) * kIndexFactor, (index + 2) * kIndexFactor,
                              (index + 3) * kIndexFactor, (index + 4) * kIndexFactor};
    __m256i key = load(reinterpret_cast<const uint8_t*>(keys));
    __m256i product = _mm256_setzero_si256();
    __m256i lanes[kVectors];
    for (uint64_t v = 0; v < kVectors; v++) {
        lanes[v] = load(reinterpret_cast<const uint8_t*>(sums.lane + 4 * v));
    }
    for (; blocks > 0; blocks--, data += kBlockBytes) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v++) {
            add_vector(lanes[v], product, _mm256_xor_si256(load(data + 32 * v), key));
            key = _mm256_add_epi64(key, step);
        }
    }
    for (uint64_t v = 0; v < kVectors; v++) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums.lane + 4 * v), lanes[v]);
    }
    sums.product += total_of(product);
}

/* Each format adds 16 elements to four vectors of partial sums. Squares of all but float64 are exact in
 * double precision, so that fusing them with the addition changes nothing. kPart[i] is the partial sum that
 * is kept in the i-th double of the vectors. */
constexpr uint8_t kInOrder[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr uint8_t kEvenAndOdd[kLanes] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

AVX2_INLINE void add_exact(__m256d& squares, __m128 values) {
    const __m256d wide = _mm256_cvtps_pd(values);
    squares = _mm256_fmadd_pd(wide, wide, squares);
}

struct Float64 {
    static constexpr uint64_t kBytes = 128;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX2_INLINE static void add(__m256d* squares, const uint8_t* data) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v++) {
            const __m256d values = _mm256_loadu_pd(reinterpret_cast<const double*>(data) + 4 * v);
            squares[v] = _mm256_add_pd(squares[v], _mm256_mul_pd(values, values));
        }
    }
};

struct Float32 {
    static constexpr uint64_t kBytes = 64;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX2_INLINE static void add(__m256d* squares, const uint8_t* data) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v++) {
            add_exact(squares[v], _mm_loadu_ps(reinterpret_cast<const float*>(data) + 4 * v));
        }
    }
};

struct Float16 {
    static constexpr uint64_t kBytes = 32;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX2_INLINE static void add(__m256d* squares, const uint8_t* data) {
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v += 2) {
            const __m256 values =
                _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 8 * v)));
            add_exact(squares[v], _mm256_castps256_ps128(values));
            add_exact(squares[v + 1], _mm256_extractf128_ps(values, 1));
        }
    }
};

struct Bfloat16 { /* the upper half of a float32: even elements are moved there, odd ones are there */
    static constexpr uint64_t kBytes = 32;
    static constexpr const uint8_t* kPart = kEvenAndOdd;
    AVX2_INLINE static void add(__m256d* squares, const uint8_t* data) {
        const __m128i odd = _mm_set1_epi32(static_cast<int>(0xffff0000U));
#pragma GCC unroll 4
        for (uint64_t v = 0; v < kVectors; v += 2) {
            const __m128i pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 8 * v));
            add_exact(squares[v], _mm_castsi128_ps(_mm_slli_epi32(pairs, 16)));
            add_exact(squares[v + 1], _mm_castsi128_ps(_mm_and_si128(pairs, odd)));
        }
    }
};

template <typename Format>
AVX2 void add_squares(Sums& sums, const uint8_t* data, uint64_t blocks) {
    alignas(32) double parts[kLanes];
    __m256d squares[kVectors];
    for (uint64_t i = 0; i < kLanes; i++) {
        parts[i] = sums.square[Format::kPart[i]];
    }
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; v++) {
        squares[v] = _mm256_load_pd(parts + 4 * v);
    }
    for (const uint8_t* end = data + blocks * kBlockBytes; data < end; data += Format::kBytes) {
        Format::add(squares, data);
    }
#pragma GCC unroll 4
    for (uint64_t v = 0; v < kVectors; v++) {
        _mm256_store_pd(parts + 4 * v, squares[v]);
    }
    for (uint64_t i = 0; i < kLanes; i++) {
        sums.square[Format::kPart[i]] = parts[i];
    }
}

/* F16C stands in cpuid itself: not every compiler's __builtin_cpu_supports knows it. */
bool can_run() {
    uint32_t eax = 0;
    uint32_t ebx = 0;
    uint32_t ecx = 0;
    uint32_t edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0 &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}

}  // namespace

const Kernel* avx2_kernel() {
    static constexpr Kernel kernel = {
        add_words,
        {nullptr, add_squares<Float64>, add_squares<Float32>, add_squares<Float16>, add_squares<Bfloat16>}};
    return can_run() ? &kernel : nullptr;
}

}  // namespace inquest::recorder

#else

#include "digest_sums.h"

const inquest::recorder::Kernel* inquest::recorder::avx2_kernel() {
    return nullptr;
}

#endif
