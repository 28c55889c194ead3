/* From sums to 128 bits, and from many digests to one. */
#pragma once

#include <cstdint>

#include "digest_sums.h"
#include "inquest.h"

namespace inquest::recorder {

/* Fills low and high from lane, `product` and the number of bytes. */
void fold(uint64_t product, uint64_t bytes, inquest_digest& digest);

}  // namespace inquest::recorder
