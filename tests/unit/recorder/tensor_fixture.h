/* For tests of digests: tensors of any layout in memory of their own, and the digest as
 * docs/formats/tensor_table.md describes it, word by word. */
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "spank/recorder/digest_sums.h"
#include "spank/recorder/inquest.h"

namespace inquest::recorder_test {

struct ElementType {
    uint32_t bytes;
    uint32_t kind; /* enum inquest_element_kind */
};

inline constexpr ElementType kElementTypes[] = {
    {1, INQUEST_ELEMENT_OTHER},   {2, INQUEST_ELEMENT_OTHER},   {4, INQUEST_ELEMENT_OTHER},
    {8, INQUEST_ELEMENT_OTHER},   {16, INQUEST_ELEMENT_OTHER},  {8, INQUEST_ELEMENT_FLOAT64},
    {4, INQUEST_ELEMENT_FLOAT32}, {2, INQUEST_ELEMENT_FLOAT16}, {2, INQUEST_ELEMENT_BFLOAT16}};

class TensorFixture {
 public:
    /* A dense tensor with random bits. `misalignment_bytes` moves it off any alignment. */
    TensorFixture(std::mt19937_64& random, ElementType type, std::vector<int64_t> sizes,
                  uint64_t misalignment_bytes = 0);

    /* Views of the same memory. */
    void swap_dimensions(size_t a, size_t b);
    void take_every(size_t dimension, int64_t step);
    void reverse(size_t dimension);
    void expand(int64_t size); /* a new first dimension with stride 0 */

    inquest_tensor tensor() const;
    uint64_t elements() const;
    std::vector<uint8_t> packed() const; /* the elements in logical order */
    /* Whether an element of the view has this byte of the memory. */
    std::vector<bool> used_bytes() const;
    std::vector<uint8_t>& memory() { return memory_; }

 private:
    uint64_t offset_of(uint64_t logical) const; /* of the element within the memory */

    ElementType type_;
    std::vector<int64_t> sizes_;
    std::vector<int64_t> strides_;
    std::vector<uint8_t> memory_;
    uint64_t first_; /* byte of the first logical element */
};

/* A tensor of up to four dimensions, turned, thinned, reversed and expanded at random. */
TensorFixture random_view(std::mt19937_64& random, ElementType type, int64_t largest_size);

/* low, high and lane of packed bytes, by the description. */
inquest_digest described_digest(const std::vector<uint8_t>& packed);

inquest_digest digest_of(const inquest_tensor& tensor, bool with_norm = false);
/* A byte tensor over the memory of `bytes`. */
inquest_digest digest_of(const std::vector<uint8_t>& bytes);
bool is_same(const inquest_digest& a, const inquest_digest& b);
uint32_t changed_lanes(const inquest_digest& a, const inquest_digest& b);

/* Those that this processor can run. */
std::vector<const recorder::Kernel*> runnable_kernels();

}  // namespace inquest::recorder_test
