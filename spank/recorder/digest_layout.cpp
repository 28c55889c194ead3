#include "digest_layout.h"

#include <string.h>

namespace inquest::recorder {
namespace {

struct Bytes16 {
    uint8_t bytes[16];
};

template <typename Unit>
void gather(uint8_t* target, const uint8_t* data, int64_t stride_bytes, uint64_t elements) {
    for (uint64_t e = 0; e < elements; e++) {
        memcpy(target + e * sizeof(Unit), data + static_cast<int64_t>(e) * stride_bytes, sizeof(Unit));
    }
}

using Gather = void (*)(uint8_t* target, const uint8_t* data, int64_t stride_bytes, uint64_t elements);

Gather gather_for(uint64_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return gather<uint8_t>;
        case 2:
            return gather<uint16_t>;
        case 4:
            return gather<uint32_t>;
        case 8:
            return gather<uint64_t>;
        case 16:
            return gather<Bytes16>;
        default:
            return nullptr;
    }
}

}  // namespace

bool Layout::add(int64_t size, int64_t stride_bytes) {
    if (size < 0) {
        return false;
    }
    is_empty_ = is_empty_ || size == 0;
    if (size <= 1) {
        return true;
    }
    int64_t joined = 0;
    if (count_ > 0 && !__builtin_mul_overflow(stride_bytes, size, &joined) &&
        joined == stride_bytes_[count_ - 1]) {
        stride_bytes_[count_ - 1] = stride_bytes;
        return !__builtin_mul_overflow(size_[count_ - 1], size, &size_[count_ - 1]);
    }
    size_[count_] = size;
    stride_bytes_[count_] = stride_bytes;
    count_++;
    return true;
}

bool Layout::set(const inquest_tensor& tensor, uint32_t first) {
    element_bytes_ = tensor.element_bytes;
    if (gather_for(element_bytes_) == nullptr || tensor.dimensions > INQUEST_TENSOR_MAX_DIMENSIONS ||
        first > tensor.dimensions ||
        (tensor.dimensions > 0 && (tensor.sizes == nullptr || tensor.strides == nullptr))) {
        return false;
    }
    bool is_valid = true;
    for (uint32_t d = first; d < tensor.dimensions && is_valid; d++) {
        int64_t stride_bytes = 0;
        is_valid =
            !__builtin_mul_overflow(tensor.strides[d], static_cast<int64_t>(element_bytes_), &stride_bytes) &&
            add(tensor.sizes[d], stride_bytes);
    }
    return is_valid && (is_empty_ || tensor.data != nullptr);
}

void Layout::walk_last(const uint8_t* data, Stream& stream) const {
    const int64_t size = count_ == 0 ? 1 : size_[count_ - 1];
    const int64_t stride_bytes =
        count_ == 0 ? static_cast<int64_t>(element_bytes_) : stride_bytes_[count_ - 1];
    if (stride_bytes == static_cast<int64_t>(element_bytes_)) {
        stream.put(data, static_cast<uint64_t>(size) * element_bytes_);
        return;
    }
    const Gather gather_elements = gather_for(element_bytes_);
    for (uint64_t left = static_cast<uint64_t>(size); left > 0;) {
        const uint64_t room = stream.room_bytes() / element_bytes_;
        const uint64_t elements = left < room ? left : room;
        gather_elements(stream.room(), data, stride_bytes, elements);
        stream.commit(elements * element_bytes_);
        data += static_cast<int64_t>(elements) * stride_bytes;
        left -= elements;
    }
}

/* The start of the next row of the last dimension, null after the last one. */
const uint8_t* Layout::next(const uint8_t* data, int64_t* position) const {
    for (uint32_t d = count_ - 1; d-- > 0;) {
        if (++position[d] < size_[d]) {
            return data + stride_bytes_[d];
        }
        data -= (size_[d] - 1) * stride_bytes_[d];
        position[d] = 0;
    }
    return nullptr;
}

void Layout::walk(const uint8_t* data, Stream& stream) const {
    if (is_empty_) {
        return;
    }
    int64_t position[INQUEST_TENSOR_MAX_DIMENSIONS] = {};
    while (data != nullptr) {
        walk_last(data, stream);
        data = count_ < 2 ? nullptr : next(data, position);
    }
}

}  // namespace inquest::recorder
