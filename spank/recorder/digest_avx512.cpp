/* The kernel for processors with AVX-512 F and DQ: eight lanes in a register and a 64-bit multiplication. */
#ifdef __x86_64__
#ifndef __clang__
/* GCC 12 takes the undefined upper halves in its own header for a mistake of the caller (GCC bug 105593). */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <cpuid.h>
#include <immintrin.h>

#include "digest_sums.h"

#define AVX512 __attribute__((target("avx512f,avx512dq,f16c,fma")))
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

/* Each format adds 16 elements to two vectors of partial sums. Squares of all but float64 are exact in double
 * precision, so that fusing them with the addition changes nothing. kPart[i] is the partial sum that is kept
 * in the i-th double of the vectors. */
constexpr uint8_t kInOrder[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr uint8_t kEvenAndOdd[kLanes] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};

AVX512_INLINE void add_exact(__m512d& squares, __m256 values) {
    const __m512d wide = _mm512_cvtps_pd(values);
    squares = _mm512_fmadd_pd(wide, wide, squares);
}

struct Float64 {
    static constexpr uint64_t kBytes = 128;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX512_INLINE static void add(__m512d* squares, const uint8_t* data) {
#pragma GCC unroll 2
        for (uint64_t v = 0; v < kVectors; v++) {
            const __m512d values = _mm512_loadu_pd(data + 64 * v);
            squares[v] = _mm512_add_pd(squares[v], _mm512_mul_pd(values, values));
        }
    }
};

struct Float32 {
    static constexpr uint64_t kBytes = 64;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX512_INLINE static void add(__m512d* squares, const uint8_t* data) {
#pragma GCC unroll 2
        for (uint64_t v = 0; v < kVectors; v++) {
            add_exact(squares[v], _mm256_loadu_ps(reinterpret_cast<const float*>(data) + 8 * v));
        }
    }
};

struct Float16 {
    static constexpr uint64_t kBytes = 32;
    static constexpr const uint8_t* kPart = kInOrder;
    AVX512_INLINE static void add(__m512d* squares, const uint8_t* data) {
#pragma GCC unroll 2
        for (uint64_t v = 0; v < kVectors; v++) {
            add_exact(squares[v],
                      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + v)));
        }
    }
};

struct Bfloat16 { /* the upper half of a float32: even elements are moved there, odd ones are there */
    static constexpr uint64_t kBytes = 32;
    static constexpr const uint8_t* kPart = kEvenAndOdd;
    AVX512_INLINE static void add(__m512d* squares, const uint8_t* data) {
        const __m256i odd = _mm256_set1_epi32(static_cast<int>(0xffff0000U));
        const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
        add_exact(squares[0], _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)));
        add_exact(squares[1], _mm256_castsi256_ps(_mm256_and_si256(pairs, odd)));
    }
};

template <typename Format>
AVX512 void add_squares(Sums& sums, const uint8_t* data, uint64_t blocks) {
    double parts[kLanes];
    for (uint64_t i = 0; i < kLanes; i++) {
        parts[i] = sums.square[Format::kPart[i]];
    }
    __m512d squares[kVectors] = {_mm512_loadu_pd(parts), _mm512_loadu_pd(parts + 8)};
    for (const uint8_t* end = data + blocks * kBlockBytes; data < end; data += Format::kBytes) {
        Format::add(squares, data);
    }
    _mm512_storeu_pd(parts, squares[0]);
    _mm512_storeu_pd(parts + 8, squares[1]);
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
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq");
}

}  // namespace

const Kernel* avx512_kernel() {
    static constexpr Kernel kernel = {
        add_words,
        {nullptr, add_squares<Float64>, add_squares<Float32>, add_squares<Float16>, add_squares<Bfloat16>}};
    return can_run() ? &kernel : nullptr;
}

}  // namespace inquest::recorder

#else

#include "digest_sums.h"

const inquest::recorder::Kernel* inquest::recorder::avx512_kernel() {
    return nullptr;
}

#endif
