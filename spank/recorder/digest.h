/* The digest of one tensor with a kernel of the caller's choice. */
#pragma once
#include "digest_layout.h"

namespace inquest::recorder {

/* `tensor` is valid (Layout::set). */
void digest_tensor(const Kernel& kernel, const inquest_tensor& tensor, bool with_norm,
                   inquest_digest& ret_digest);

}  // namespace inquest::recorder
