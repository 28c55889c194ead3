#include "digest.h"

#include <errno.h>

namespace inquest::recorder {
namespace {

bool is_valid(const inquest_tensor& tensor) {
    static constexpr uint32_t element_bytes[kElementKinds] = {0, 8, 4, 2, 2};
    Layout layout;
    return tensor.kind < kElementKinds &&
           (tensor.kind == INQUEST_ELEMENT_OTHER || tensor.element_bytes == element_bytes[tensor.kind]) &&
           layout.set(tensor, 0);
}

const uint8_t* first_byte(const inquest_tensor& tensor) {
    return static_cast<const uint8_t*>(tensor.data);
}

uint64_t hash_row(const Kernel& kernel, const Layout& layout, const uint8_t* data) {
    Stream stream(kernel, INQUEST_ELEMENT_OTHER);
    inquest_digest digest;
    layout.walk(data, stream);
    stream.finish(layout.element_bytes(), digest);
    return digest.low == 0 ? 1 : digest.low;
}

}  // namespace

void digest_tensor(const Kernel& kernel, const inquest_tensor& tensor, bool with_norm,
                   inquest_digest& ret_digest) {
    Stream stream(kernel, with_norm ? tensor.kind : static_cast<uint32_t>(INQUEST_ELEMENT_OTHER));
    Layout layout;
    (void)layout.set(tensor, 0);
    layout.walk(first_byte(tensor), stream);
    stream.finish(layout.element_bytes(), ret_digest);
}

}  // namespace inquest::recorder

int inquest_digest_tensors(const struct inquest_tensor* tensors, uint32_t count, int with_norm,
                           struct inquest_digest* ret_digests) {
    using namespace inquest::recorder;
    const Kernel& kernel = best_kernel();
    for (uint32_t i = 0; i < count; i++) {
        if (!is_valid(tensors[i])) {
            return -EINVAL;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        digest_tensor(kernel, tensors[i], with_norm != 0, ret_digests[i]);
    }
    return 0;
}

int inquest_digest_rows(const struct inquest_tensor* tensor, uint64_t* ret_hashes, uint32_t rows) {
    using namespace inquest::recorder;
    const Kernel& kernel = best_kernel();
    Layout row;
    if (!is_valid(*tensor) || tensor->dimensions == 0 || rows > static_cast<uint64_t>(tensor->sizes[0]) ||
        !row.set(*tensor, 1)) {
        return -EINVAL;
    }
    const int64_t stride_bytes = tensor->strides[0] * static_cast<int64_t>(tensor->element_bytes);
    for (uint32_t r = 0; r < rows; r++) {
        ret_hashes[r] = hash_row(kernel, row, first_byte(*tensor) + static_cast<int64_t>(r) * stride_bytes);
    }
    return 0;
}
