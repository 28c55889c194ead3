#include "spank/watch/divergence_watch.h"

#include <algorithm>

#include "spank/harvest/report_directory.h"
#include "spank/replicas/rank_set.h"
#include "spank/watch/timing.h"

namespace inquest::watch {
namespace {

using replicas::ReplicaRecord;
using replicas::StateDigest;

constexpr size_t kMaxOwnRanks = 4096;
constexpr uint64_t kLeaveNs = 2U * kNsPerSecond;
constexpr uint64_t kLeaveEveryNs = kNsPerSecond / 20;
/* A quarter of a tick, so that the lead has time for everything else however slow the file server is... */
constexpr uint64_t kReadNs = kNsPerSecond / 20;
/* ... at the end, when there is nothing else, most of it... */
constexpr uint64_t kReadAtEndNs = kNsPerSecond / 4;
/* ... and of the time from turn to turn no more than this part. */
constexpr uint64_t kReadShare = 4;

}  // namespace

void DivergenceWatch::take(const std::vector<ReplicaRecord>& records) {
    for (const ReplicaRecord& record : records)
        if (own_ranks_.size() < kMaxOwnRanks) own_ranks_.emplace(record.source.world, record.source.rank);
    for (const ReplicaRecord& record : records)
        take_one(record);
}

void DivergenceWatch::take_one(const ReplicaRecord& record) {
    if (step_.node_count > 1 && !is_lead() && concerns_others(record))
        writer_.add(record);
    else
        comparison_.add(record);
}

bool DivergenceWatch::concerns_others(const ReplicaRecord& record) const {
    const uint64_t world = record.source.world;
    const auto is_own = [&](uint32_t rank) { return own_ranks_.count({world, rank}) != 0; };
    if (const auto* digest = std::get_if<StateDigest>(&record.what)) {
        const std::vector<uint32_t> ranks = replicas::parse_ranks(digest->ranks);
        return !std::all_of(ranks.begin(), ranks.end(), is_own);
    }
    const auto first = own_ranks_.lower_bound({world, 0});
    const auto own = std::distance(first, own_ranks_.lower_bound({world + 1, 0}));
    return static_cast<uint64_t>(own) < record.source.world_size;
}

void DivergenceWatch::tick() {
    if (step_.node_count < 2 || finished_) return;
    if (is_reading_) return read_others(kReadNs);
    if (!is_due()) return;
    exchanged_mono_ns_ = system_.mono_ns();
    read_for_ns_ = 0;
    if (is_lead())
        read_others(kReadNs);
    else
        writer_.flush(step_);
}

bool DivergenceWatch::is_due() const {
    const uint64_t interval_ns =
        std::max(replicas::exchange_interval_ns(step_.node_count), kReadShare * read_for_ns_);
    return system_.mono_ns() - exchanged_mono_ns_ >= interval_ns;
}

void DivergenceWatch::read_others(uint64_t for_ns) {
    using Look = replicas::ExchangeReader::Look;
    const uint64_t begin = system_.mono_ns();
    is_reading_ = !reader_.poll(
        step_, ended_ ? Look::all : Look::changed, [&] { return system_.mono_ns() - begin < for_ns; },
        [&](const ReplicaRecord& record) { comparison_.add(record); });
    read_for_ns_ += system_.mono_ns() - begin;
    if (!ended_ || finished_ || is_reading_ || reader_.ended_nodes() + 1 < step_.node_count) return;
    finish();
    harvest::remove_own_digests(step_);
}

void DivergenceWatch::finish() {
    finished_ = true;
    comparison_.finish();
}

void DivergenceWatch::end() {
    ended_ = true;
    if (step_.node_count > 1 && is_lead()) return read_others(kReadAtEndNs);
    writer_.end(step_);
    comparison_.finish();
}

/* The lead waits for files that are not complete, another node for the lead to read its own. */
void DivergenceWatch::leave() {
    if (step_.node_count < 2) return;
    if (!is_lead()) writer_.end(step_);
    wait_for_others(system_.mono_ns() + kLeaveNs);
    harvest::remove_own_digests(step_);
}

void DivergenceWatch::wait_for_others(uint64_t deadline_mono_ns) {
    while (system_.mono_ns() < deadline_mono_ns) {
        if (is_lead()) read_others(kReadAtEndNs);
        if (is_lead() ? !is_reading_ && reader_.all_ended() : !writer_.exists(step_)) break;
        system_.sleep_ns(kLeaveEveryNs);
    }
    if (is_lead() && ended_ && !finished_) finish();
}

}  // namespace inquest::watch
