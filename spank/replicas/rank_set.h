/* Sets of global ranks as boxes write them: "0-3" or "0,2,5-7". */
#ifndef INQUEST_SPANK_REPLICAS_RANK_SET_H
#define INQUEST_SPANK_REPLICAS_RANK_SET_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace inquest::replicas {

constexpr size_t kMaxRanks = 65536;

/* The ranks in ascending order; empty when the text is anything else, its numbers do not ascend, or there are
 * more than kMaxRanks. */
std::vector<uint32_t> parse_ranks(std::string_view text);

}  // namespace inquest::replicas

#endif
