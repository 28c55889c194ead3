/* The sums that a digest is made of, and the kernels that add whole blocks to them. The same sums come out of
 * every kernel, bit for bit; docs/formats/tensor_table.md describes them. */
#pragma once
#include <stdint.h>

namespace inquest::recorder {

constexpr uint64_t kLanes = 16;
constexpr uint64_t kBlockBytes = 128; /* one word for each lane */
constexpr uint64_t kElementKinds = 5; /* enum inquest_element_kind */

constexpr uint64_t kIndexFactor = 0x9e3779b97f4a7c15U;      /* 2^64 / golden ratio, odd */
constexpr uint64_t kFirstChainFactor = 0xbf58476d1ce4e5b9U; /* the multipliers of SplitMix64, */
constexpr uint64_t kSecondChainFactor = 0x94d049bb133111ebU;
constexpr uint64_t kFirstFactor = kFirstChainFactor >> 32U;   /* and their upper halves, odd too: a product */
constexpr uint64_t kSecondFactor = kSecondChainFactor >> 32U; /* of 64 by 32 bits is two steps of AVX2 */

struct Sums {
    uint64_t lane[kLanes];
    uint64_t product;
    double square[kLanes]; /* of element e in [e % 16] */
};

/* A bijection of the word for each index. */
inline uint64_t mix(uint64_t word, uint64_t index) {
    uint64_t x = word ^ ((index + 1) * kIndexFactor);
    x = (x ^ (x >> 32U)) * kFirstFactor;
    x = (x ^ (x >> 32U)) * kSecondFactor;
    return x ^ (x >> 32U);
}

inline void add_word(Sums& sums, uint64_t word, uint64_t index) {
    const uint64_t mixed = mix(word, index);
    sums.lane[index % kLanes] += mixed;
    sums.product += (mixed & 0xffffffffU) * (mixed >> 32U);
}

/* Adds `blocks` blocks; the first word has the index `index`, a multiple of 16. Memory of any alignment. */
using WordKernel = void (*)(Sums& sums, const uint8_t* data, uint64_t blocks, uint64_t index);
/* Adds the squares of the elements of whole blocks. */
using SquareKernel = void (*)(Sums& sums, const uint8_t* data, uint64_t blocks);

struct Kernel {
    WordKernel words;
    SquareKernel squares[kElementKinds]; /* by enum inquest_element_kind; [0] is null */
};

const Kernel& portable_kernel();

/* Null when this processor, or the operating system, cannot run them. */
const Kernel* avx2_kernel();
const Kernel* avx512_kernel();

/* The fastest one that can run here. Thread-safe. */
const Kernel& best_kernel();

/* The square of one element of that kind, in double precision. */
double square_of(uint32_t kind, const uint8_t* element);

}  // namespace inquest::recorder
