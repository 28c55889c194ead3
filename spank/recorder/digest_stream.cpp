#include "digest_stream.h"

#include <string.h>

#include "digest_fold.h"

namespace inquest::recorder {
namespace {

/* Words and squares of a piece are read one after the other, the second time from the first-level cache. */
constexpr uint64_t kPieceBlocks = 64;

uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

double norm_of(const Sums& sums) {
    double total = 0;
    for (const double square : sums.square) {
        total += square;
    }
    const double norm = __builtin_sqrt(total);
    return norm == norm ? norm : __builtin_nan(""); /* one NaN only, whatever the elements held */
}

}  // namespace

void Stream::add_blocks(const uint8_t* data, uint64_t blocks) {
    const SquareKernel squares = kernel_.squares[kind_];
    const uint64_t most = squares == nullptr ? blocks : kPieceBlocks;
    while (blocks > 0) {
        const uint64_t piece = smaller(blocks, most);
        kernel_.words(sums_, data, piece, blocks_ * kLanes);
        if (squares != nullptr) {
            squares(sums_, data, piece);
        }
        blocks_ += piece;
        blocks -= piece;
        data += piece * kBlockBytes;
    }
}

void Stream::flush_blocks() {
    const uint64_t blocks = used_ / kBlockBytes;
    add_blocks(buffer_, blocks);
    used_ -= blocks * kBlockBytes;
    memmove(buffer_, buffer_ + blocks * kBlockBytes, used_);
}

void Stream::commit(uint64_t bytes) {
    used_ += bytes;
    if (used_ == kBufferBytes) {
        flush_blocks();
    }
}

void Stream::put(const uint8_t* data, uint64_t bytes) {
    if (bytes >= room_bytes()) {
        const uint64_t missing = (kBlockBytes - used_ % kBlockBytes) % kBlockBytes;
        memcpy(room(), data, missing);
        used_ += missing;
        flush_blocks();
        const uint64_t direct = (bytes - missing) / kBlockBytes;
        add_blocks(data + missing, direct);
        data += missing + direct * kBlockBytes;
        bytes -= missing + direct * kBlockBytes;
    }
    memcpy(room(), data, bytes);
    commit(bytes);
}

void Stream::add_rest(uint64_t element_bytes) {
    const uint64_t words = (used_ + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    memset(room(), 0, words * sizeof(uint64_t) - used_);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word = 0;
        memcpy(&word, buffer_ + i * sizeof word, sizeof word);
        add_word(sums_, word, blocks_ * kLanes + i);
    }
    for (uint64_t e = 0; kind_ != INQUEST_ELEMENT_OTHER && e < used_ / element_bytes; e++) {
        sums_.square[e % kLanes] += square_of(kind_, buffer_ + e * element_bytes);
    }
}

void Stream::finish(uint64_t element_bytes, inquest_digest& ret_digest) {
    flush_blocks();
    add_rest(element_bytes);
    memcpy(ret_digest.lane, sums_.lane, sizeof ret_digest.lane);
    fold(sums_.product, blocks_ * kBlockBytes + used_, ret_digest);
    ret_digest.norm = kind_ == INQUEST_ELEMENT_OTHER ? __builtin_nan("") : norm_of(sums_);
}

}  // namespace inquest::recorder
