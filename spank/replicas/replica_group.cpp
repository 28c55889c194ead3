#include "spank/replicas/replica_group.h"

#include <algorithm>

namespace inquest::replicas {
namespace {

/* What ranks that stopped reporting keep open; beyond it the earliest checkpoint is given up. Fewer in large
 * groups, which a worker's memory has to hold. */
constexpr size_t kMaxOpenCheckpoints = 64;
constexpr size_t kLeastOpenCheckpoints = 8;
constexpr size_t kMaxOpenValues = size_t{1} << 17U;
constexpr size_t kMaxKnownGradients = 128;

size_t most_open_checkpoints(size_t ranks) {
    return std::clamp(kMaxOpenValues / std::max<size_t>(ranks, 1), kLeastOpenCheckpoints,
                      kMaxOpenCheckpoints);
}

Moment moment_of(const StateDigest& digest) {
    switch (digest.site) {
        case INQUEST_SITE_START:
            return {0, 0};
        case INQUEST_SITE_STEP:
            return {digest.step, 1};
        case INQUEST_SITE_END:
            return {digest.step, 3};
        default:
            return {digest.step, 2};
    }
}

bool all_equal(const PartHistory::Values& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](const auto& value) { return value.second == values.front().second; });
}

size_t largest_agreement(const PartHistory::Values& values) {
    std::map<Digest, size_t> counts;
    size_t largest = 0;
    for (const auto& [index, digest] : values)
        largest = std::max(largest, ++counts[digest]);
    return largest;
}

bool has_majority(const PartHistory::Values& values, size_t ranks) {
    const size_t largest = largest_agreement(values);
    return largest >= 2 && 2 * largest > ranks;
}

}  // namespace

void PartHistory::add(uint32_t index, Moment moment, const std::optional<Digest>& digest) {
    std::optional<Moment>& newest = newest_.at(index);
    if (newest && *newest >= moment) return; /* the same again, or a second one at the same checkpoint */
    auto passed = newest ? checkpoints_.upper_bound(*newest) : checkpoints_.begin();
    newest = moment;
    for (; passed != checkpoints_.end() && passed->first <= moment; ++passed)
        passed->second.passed++;
    if (digest) open(moment).values.emplace_back(index, *digest);
}

PartHistory::Checkpoint& PartHistory::open(Moment moment) {
    const auto [found, is_new] = checkpoints_.try_emplace(moment);
    if (!is_new) return found->second;
    found->second.passed = static_cast<size_t>(std::count_if(
        newest_.begin(), newest_.end(), [&](const auto& newest) { return newest && *newest >= moment; }));
    if (checkpoints_.size() > most_open_checkpoints(newest_.size()) && checkpoints_.begin() != found)
        checkpoints_.erase(checkpoints_.begin());
    return found->second;
}

std::optional<std::pair<Moment, PartHistory::Values>> PartHistory::take(bool all) {
    const auto earliest = checkpoints_.begin();
    if (earliest == checkpoints_.end() || (!all && earliest->second.passed < newest_.size()))
        return std::nullopt;
    std::pair<Moment, Values> taken(earliest->first, std::move(earliest->second.values));
    checkpoints_.erase(earliest);
    return taken;
}

ReplicaGroup::ReplicaGroup(std::vector<uint32_t> ranks)
    : ranks_(std::move(ranks)),
      parameters_(ranks_.size()),
      buffers_(ranks_.size()),
      gradients_(ranks_.size()),
      is_loaded_(ranks_.size()) {}

/* Where a state was loaded ranks may differ for a while: one of them loads and sends it to the others, or
 * takes the best state for a last evaluation of its own. What it holds counts again from its next step on. */
void ReplicaGroup::add(uint32_t rank, const StateDigest& digest) {
    PartHistory* history = history_of(digest.part);
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (history == nullptr || found == ranks_.end() || *found != rank) return;
    const auto index = static_cast<uint32_t>(found - ranks_.begin());
    if (!digest.is_promised) is_promised_ = false;
    note_tensors(digest);
    if (digest.site == INQUEST_SITE_LOADED) is_loaded_[index] = true;
    if (digest.site == INQUEST_SITE_STEP) is_loaded_[index] = false;
    const bool counts = !is_loaded_[index] && digest.tensors > 0;
    history->add(index, moment_of(digest), counts ? std::optional(digest.digest) : std::nullopt);
}

/* Ordinals are each process's own: where one rank has an optimizer more than the others, the same ordinal
 * names another model there. */
void ReplicaGroup::note_tensors(const StateDigest& digest) {
    if (digest.part != INQUEST_PART_PARAMETERS || digest.tensors == 0) return;
    if (tensors_ == 0) tensors_ = digest.tensors;
    if (tensors_ != digest.tensors) is_one_model_ = false;
}

PartHistory* ReplicaGroup::history_of(uint32_t part) {
    switch (part) {
        case INQUEST_PART_PARAMETERS:
            return &parameters_;
        case INQUEST_PART_BUFFERS:
            return &buffers_;
        case INQUEST_PART_GRADIENTS:
            return &gradients_;
        default:
            return nullptr;
    }
}

/* Gradients first: each rank reports those of a step before what the step made of them. */
std::optional<std::pair<Moment, uint32_t>> ReplicaGroup::judge(bool all) {
    while (const auto checkpoint = gradients_.take(all))
        note_gradients(checkpoint->first, checkpoint->second);
    for (const uint32_t part : {INQUEST_PART_PARAMETERS, INQUEST_PART_BUFFERS}) {
        bool& differs = part == INQUEST_PART_PARAMETERS ? parameters_differ_ : buffers_differ_;
        while (const auto checkpoint = history_of(part)->take(all)) {
            if (differs || !is_real(checkpoint->first, checkpoint->second)) continue;
            differs = true;
            return std::pair(checkpoint->first, part);
        }
    }
    return std::nullopt;
}

void ReplicaGroup::note_gradients(Moment moment, const PartHistory::Values& values) {
    gradients_agree_[moment.step] = has_majority(values, ranks_.size());
    if (gradients_agree_.size() > kMaxKnownGradients) gradients_agree_.erase(gradients_agree_.begin());
}

/* Without a promise ranks may train models of their own, or average them now and then. That they mean to
 * agree shows in a majority with equal gradients at this step, or with equal parameters after it. */
bool ReplicaGroup::is_real(Moment moment, const PartHistory::Values& values) const {
    if (values.size() < 2 || !is_one_model_ || all_equal(values)) return false;
    if (is_promised_) return true;
    if (moment.step < 1) return false;
    const auto gradients = gradients_agree_.find(moment.step);
    return (gradients != gradients_agree_.end() && gradients->second) || has_majority(values, ranks_.size());
}

}  // namespace inquest::replicas
