#include "digest_fold.h"

namespace inquest::recorder {
namespace {

/* A bijection of the state for each value and of the value for each state: one changed value in a chain of
 * these always changes its end. */
uint64_t chain(uint64_t state, uint64_t value, uint64_t factor) {
    const uint64_t x = (state ^ value) * factor;
    return x ^ (x >> 32U);
}

}  // namespace

void fold(uint64_t product, uint64_t bytes, inquest_digest& digest) {
    uint64_t low = chain(kIndexFactor, bytes, kFirstChainFactor);
    uint64_t high = chain(chain(kIndexFactor, bytes, kSecondChainFactor), product, kSecondChainFactor);
    for (const uint64_t lane : digest.lane) {
        low = chain(low, lane, kFirstChainFactor);
        high = chain(high, lane, kSecondChainFactor);
    }
    digest.low = chain(low, 0, kSecondChainFactor);
    digest.high = chain(high, 0, kFirstChainFactor);
}

}  // namespace inquest::recorder

void inquest_digest_combine(const struct inquest_digest* digests, uint32_t count, uint64_t* ret_pair) {
    using namespace inquest::recorder;
    uint64_t low = chain(kIndexFactor, count, kFirstChainFactor);
    uint64_t high = chain(kIndexFactor, count, kSecondChainFactor);
    for (uint32_t i = 0; i < count; i++) {
        low = chain(low, digests[i].low, kFirstChainFactor);
        high = chain(high, digests[i].high, kSecondChainFactor);
    }
    ret_pair[0] = low;
    ret_pair[1] = high;
}
