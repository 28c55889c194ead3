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
                       [&](const auto& value) { return value.digest == values.front().digest; });
}

size_t largest_agreement(const PartHistory::Values& values) {
    std::map<Digest, size_t> counts;
    size_t largest = 0;
    for (const PartHistory::Value& value : values)
        largest = std::max(largest, ++counts[value.digest]);
    return largest;
}

bool has_majority(const PartHistory::Values& values, size_t ranks) {
    const size_t largest = largest_agreement(values);
    return largest >= 2 && 2 * largest > ranks;
}

}  // namespace

void PartHistory::add(Moment moment, const Value& value, bool counts) {
    std::optional<Moment>& newest = newest_.at(value.index);
    if (newest && *newest >= moment) return; /* the same again, or a second one at the same checkpoint */
    auto passed = newest ? checkpoints_.upper_bound(*newest) : checkpoints_.begin();
    newest = moment;
    for (; passed != checkpoints_.end() && passed->first <= moment; ++passed)
        passed->second.passed++;
    if (counts) open(moment).values.push_back(value);
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
      names_(ranks_.size()),
      is_loaded_(ranks_.size()) {}

/* Where a state was loaded ranks may differ for a while: one of them loads and sends it to the others, or
 * takes the best state for a last evaluation of its own. What it holds counts again from its next step on. */
bool ReplicaGroup::add(uint32_t rank, const StateDigest& digest) {
    PartHistory* history = history_of(digest.part);
    const auto index = index_of(rank);
    if (history == nullptr || !index) return false;
    if (digest.promise == 0) is_promised_ = false;
    if (digest.site == INQUEST_SITE_LOADED) is_loaded_[*index] = true;
    if (digest.site == INQUEST_SITE_STEP) is_loaded_[*index] = false;
    const bool counts = !is_loaded_[*index] && digest.tensors > 0;
    history->add(moment_of(digest), {*index, digest.tensors, digest.digest}, counts);
    return note_name(*index, digest);
}

std::optional<uint32_t> ReplicaGroup::index_of(uint32_t rank) const {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end() || *found != rank) return std::nullopt;
    return static_cast<uint32_t>(found - ranks_.begin());
}

bool ReplicaGroup::note_name(uint32_t index, const StateDigest& digest) {
    const bool names = digest.site == INQUEST_SITE_START || digest.site == INQUEST_SITE_STEP;
    return names && digest.part == INQUEST_PART_PARAMETERS && names_.add(index, digest);
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
bool ReplicaGroup::is_real_among_equals(Moment moment, const PartHistory::Values& values) const {
    if (values.size() < 2 || all_equal(values)) return false;
    if (is_promised_) return true;
    if (moment.step < 1) return false;
    const auto gradients = gradients_agree_.find(moment.step);
    return (gradients != gradients_agree_.end() && gradients->second) || has_majority(values, ranks_.size());
}

/* What has another number of tensors is another state. */
bool ReplicaGroup::is_real(Moment moment, const PartHistory::Values& values) const {
    if (all_equal(values)) return false;
    std::map<uint32_t, PartHistory::Values> by_tensors;
    for (const PartHistory::Value& value : values)
        by_tensors[value.tensors].push_back(value);
    return std::any_of(by_tensors.begin(), by_tensors.end(),
                       [&](const auto& some) { return is_real_among_equals(moment, some.second); });
}

}  // namespace inquest::replicas
