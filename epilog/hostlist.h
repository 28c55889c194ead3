/* Node lists in Slurm's form, by libslurm. */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace inquest::epilog {

inline constexpr std::size_t kMaxNodes = 65536;

/* "n[1-3,7]" as n1, n2, n3, n7, in Slurm's order. Empty for an empty or ill-formed list and for one with more
 * than kMaxNodes names. */
std::vector<std::string> expand_hostlist(const std::string& hostlist);

}  // namespace inquest::epilog
