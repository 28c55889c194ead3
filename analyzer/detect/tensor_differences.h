// Which tensors differ at a comparison, and by how much, from the ranks' tensor tables.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/detect/checkpoints.h"

namespace inquest::detect {

struct TensorDifferences {
    std::vector<std::string> names;  // that differ, in order of the part; "#3" where the name is not known
    int64_t differing = 0;
    int64_t total = 0;
    int most_lanes = 0;     // of the 16 lanes of one tensor's digest: how many differ, at most
    double relative = 0;    // difference of the norms, relative to the norm of the whole part
    bool narrow = false;    // a tensor that differs has fewer than 32 bits per element
    bool isolated = false;  // single words: far less than anything that computes differently would change
    bool tiny = false;      // not more than rounding explains
};

// nullopt: the tables do not hold both sides (no table, or the ring has overwritten them).
std::optional<TensorDifferences> compare_tensors(const DigestOf& reference, const DigestOf& other);

// Of all that are off, against a member of the majority or, without one, against the first of them.
std::optional<TensorDifferences> compare_tensors(const Sides& sides);

}  // namespace inquest::detect
