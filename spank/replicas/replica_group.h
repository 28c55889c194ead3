/* The digests of one group of ranks that may have to hold the same state, for one optimizer, and the rule
 * that tells when a difference is real. Pure; no clock, no I/O. */
#ifndef INQUEST_SPANK_REPLICAS_REPLICA_GROUP_H
#define INQUEST_SPANK_REPLICAS_REPLICA_GROUP_H

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "spank/replicas/model_names.h"
#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

/* A checkpoint within the life of an optimizer, in the order in which a rank comes by: start, the step, what
 * is saved after it, the end. */
struct Moment {
    int64_t step = 0;
    uint32_t order = 0;
    /* clang-tidy 14 takes the 0 of a defaulted comparison for a pointer. */
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const Moment&) const = default;
};

/* One part of the state, checkpoint by checkpoint. A checkpoint is complete when each rank has reported it or
 * a later one: ranks choose their checkpoints by themselves and meet at common ones. */
class PartHistory {
 public:
    struct Value {
        uint32_t index = 0; /* of the rank within the group */
        uint32_t tensors = 0;
        Digest digest;
    };
    using Values = std::vector<Value>;

    explicit PartHistory(size_t ranks) : newest_(ranks) {}

    /* Takes what the rank reports next; what does not count only says that it has come that far. */
    void add(Moment moment, const Value& value, bool counts);

    /* The earliest checkpoint, once it is complete; with `all`, complete or not. */
    std::optional<std::pair<Moment, Values>> take(bool all);

 private:
    struct Checkpoint {
        Values values;
        size_t passed = 0; /* ranks that have reported it or a later one */
    };

    Checkpoint& open(Moment moment);

    std::vector<std::optional<Moment>> newest_;
    std::map<Moment, Checkpoint> checkpoints_;
};

class ReplicaGroup {
 public:
    explicit ReplicaGroup(std::vector<uint32_t> ranks);

    /* True when the rank has given its model a new name. */
    bool add(uint32_t rank, const StateDigest& digest);

    [[nodiscard]] const std::vector<uint32_t>& ranks() const { return ranks_; } /* ascending */
    [[nodiscard]] std::optional<uint32_t> index_of(uint32_t rank) const;
    [[nodiscard]] const ModelNames& names() const { return names_; }

    /* Judges what is complete, or with `all` whatever there is. The first real difference of parameters or
     * buffers, each once. */
    std::optional<std::pair<Moment, uint32_t>> judge(bool all);

 private:
    [[nodiscard]] bool is_real(Moment moment, const PartHistory::Values& values) const;
    [[nodiscard]] bool is_real_among_equals(Moment moment, const PartHistory::Values& values) const;
    bool note_name(uint32_t index, const StateDigest& digest);
    void note_gradients(Moment moment, const PartHistory::Values& values);
    PartHistory* history_of(uint32_t part);

    std::vector<uint32_t> ranks_;
    PartHistory parameters_;
    PartHistory buffers_;
    PartHistory gradients_;
    bool is_promised_ = true; /* by every rank */
    ModelNames names_;
    std::vector<bool> is_loaded_;             /* the rank has loaded a state since its last step */
    std::map<int64_t, bool> gradients_agree_; /* by step: those of a majority are equal */
    bool parameters_differ_ = false;
    bool buffers_differ_ = false;
};

}  // namespace inquest::replicas

#endif
