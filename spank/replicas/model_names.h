/* Under which names the ranks of a group have shown the model that one optimizer trains: who promises that
 * the ranks agree, how many tensors it has and, where nobody promises, where its step was called. Names are
 * few, ranks many. Pure. */
#ifndef INQUEST_SPANK_REPLICAS_MODEL_NAMES_H
#define INQUEST_SPANK_REPLICAS_MODEL_NAMES_H

#include <cstdint>
#include <vector>

#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

class ModelNames {
 public:
    explicit ModelNames(size_t ranks) : used_(ranks) {}

    /* True when the rank, by its index within the group, has not used this name before. */
    bool add(uint32_t index, const StateDigest& digest);

    [[nodiscard]] bool has_any(uint32_t index) const { return used_[index] != 0; }

    /* Whether the two have used a common name, be it called at another place unless `with_place`. */
    [[nodiscard]] bool have_common(uint32_t one, uint32_t other, bool with_place) const;

 private:
    struct Name {
        uint64_t promise = 0;
        uint64_t place = 0; /* 0 where somebody promises */
        uint32_t tensors = 0;
        bool operator==(const Name&) const = default;
    };

    [[nodiscard]] bool is_used_elsewhere(const Name& name, uint64_t used) const;

    std::vector<Name> names_;    /* those of all ranks */
    std::vector<uint64_t> used_; /* by index of the rank: a bit for each name */
};

}  // namespace inquest::replicas

#endif
