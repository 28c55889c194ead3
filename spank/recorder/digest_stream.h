/* Takes the bytes of one tensor in logical order, in pieces of any length, and gives its digest. */
#pragma once

#include <cstdint>

#include "digest_sums.h"
#include "inquest.h"

namespace inquest::recorder {

class Stream {
 public:
    /* `kind` (enum inquest_element_kind) decides the norm; INQUEST_ELEMENT_OTHER takes none. */
    Stream(const Kernel& kernel, uint32_t kind) : kernel_(kernel), kind_(kind) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /* Whole elements only. */
    void put(const uint8_t* data, uint64_t bytes);

    /* Memory for at least one element that the caller fills and then commits: saves a copy when gathering. */
    uint8_t* room() { return buffer_ + used_; }
    uint64_t room_bytes() const { return kBufferBytes - used_; }
    void commit(uint64_t bytes);

    void finish(uint64_t element_bytes, inquest_digest& ret_digest);

 private:
    static constexpr uint64_t kBufferBytes = 4096; /* a multiple of the block */

    void add_blocks(const uint8_t* data, uint64_t blocks);
    void flush_blocks();
    void add_rest(uint64_t element_bytes);

    const Kernel& kernel_;
    const uint32_t kind_;
    Sums sums_ = {};
    uint64_t blocks_ = 0; /* added so far */
    uint64_t used_ = 0;
    alignas(64) uint8_t buffer_[kBufferBytes];
};

}  // namespace inquest::recorder
