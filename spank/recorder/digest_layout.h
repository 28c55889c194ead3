/* The way through a tensor's memory in logical order. */
#pragma once

#include <cstdint>

#include "digest_stream.h"

namespace inquest::recorder {

/* Sizes and strides without dimensions of size 1 and with those joined that lie one behind the other, so that
 * the last one is as long as it can be. */
class Layout {
 public:
    /* The dimensions of the tensor from `first` on. False when shape or element size are not valid. */
    bool set(const inquest_tensor& tensor, uint32_t first);

    uint64_t element_bytes() const { return element_bytes_; }

    /* Feeds all elements of a tensor of this layout whose first one is at `data`. */
    void walk(const uint8_t* data, Stream& stream) const;

 private:
    bool add(int64_t size, int64_t stride_bytes);
    void walk_last(const uint8_t* data, Stream& stream) const;
    const uint8_t* next(const uint8_t* data, int64_t* position) const;

    uint64_t element_bytes_ = 0;
    bool is_empty_ = false;
    uint32_t count_ = 0; /* dimensions; 0 for one element */
    int64_t size_[INQUEST_TENSOR_MAX_DIMENSIONS];
    int64_t stride_bytes_[INQUEST_TENSOR_MAX_DIMENSIONS];
};

}  // namespace inquest::recorder
