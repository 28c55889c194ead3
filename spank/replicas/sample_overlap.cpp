#include "spank/replicas/sample_overlap.h"

#include <algorithm>
#include <cmath>

namespace inquest::replicas {
namespace {

constexpr size_t kMaxReaders = 65536;
constexpr size_t kMaxHashes = size_t{1} << 18U;
constexpr int64_t kKeptPasses = 2;
constexpr size_t kMaxPasses = 64;
constexpr size_t kFewestCommon = 3;
constexpr double kLargestHealthyShare = 0.1;
constexpr double kLeastDistinctShare = 0.75;
constexpr size_t kFullSketch = size_t{INQUEST_SAMPLES_RECORDS} * INQUEST_SAMPLES_PER_RECORD;
constexpr double kHashes = 18446744073709551616.0; /* 2^64 */

/* Without the number of replicas the shares have to add up to the data set, but for the last round. */
bool is_shared_out(const SamplerPass& pass, uint32_t world_size) {
    if (pass.replicas > 1) return true;
    if (pass.replicas != -1 || pass.samples <= 0 || pass.dataset <= 0) return false;
    const double all = static_cast<double>(pass.samples) * world_size;
    const auto dataset = static_cast<double>(pass.dataset);
    return std::abs(all - dataset) < world_size;
}

}  // namespace

void SampleOverlap::add(const Source& source, const SamplerPass& pass) {
    const std::pair key(pass.loader, source.rank);
    if (readers_.size() >= kMaxReaders && readers_.count(key) == 0) return;
    Reader& reader = readers_[key];
    const auto count = static_cast<int64_t>(reader.passes++);
    reader.sketch.clear();
    reader.pass.reset();
    if (!is_shared_out(pass, source.world_size)) return;
    reader.pass = pass.epoch >= 0 ? pass.epoch : count;
    passes_[{pass.loader, *reader.pass}].shares[source.rank] = pass.rank;
    drop_old(pass.loader, *reader.pass);
}

void SampleOverlap::drop_old(uint64_t loader, int64_t newest_pass) {
    passes_.erase(passes_.lower_bound({loader, INT64_MIN}),
                  passes_.lower_bound({loader, newest_pass - kKeptPasses + 1}));
    if (passes_.size() > kMaxPasses) passes_.erase(passes_.begin());
}

bool SampleOverlap::add(const Source& source, const SampleHashes& piece) {
    const auto found = readers_.find({piece.loader, source.rank});
    if (found == readers_.end() || !found->second.pass) return false;
    Reader& reader = found->second;
    const auto pass = passes_.find({piece.loader, *reader.pass});
    if (pass == passes_.end()) return false;
    if (piece.index == 0) reader.sketch.clear();
    for (const uint64_t hash : piece.hashes) {
        if (hash == 0 || reader.sketch.size() >= kFullSketch) continue;
        reader.sketch.push_back(hash);
        note(pass->second, source.rank, hash);
    }
    return !is_repeating(reader, piece.read) && overlaps(pass->second, reader, source.rank);
}

/* The k-th smallest of d evenly spread hashes is about k/d of all: an estimate of d. A sketch that is not
 * full though enough was read is still being told or holds all there is. */
bool SampleOverlap::is_repeating(const Reader& reader, uint64_t read) {
    const auto held = static_cast<double>(reader.sketch.size());
    const auto least_distinct = kLeastDistinctShare * static_cast<double>(read);
    if (read < kFullSketch) return held < least_distinct;
    if (reader.sketch.size() < kFullSketch) return true;
    const double distinct = (held - 1) * kHashes / (static_cast<double>(reader.sketch.back()) + 1);
    return distinct < least_distinct;
}

void SampleOverlap::note(Pass& pass, uint32_t rank, uint64_t hash) {
    if (pass.first_reader.size() >= kMaxHashes) return;
    const auto [known, is_new] = pass.first_reader.try_emplace(hash, rank);
    if (!is_new && known->second != rank) pass.is_shared[hash] = true;
}

/* Two ranks whose samplers say that they have the same share are meant to read the same. */
bool SampleOverlap::overlaps(const Pass& pass, const Reader& reader, uint32_t rank) {
    const auto own = pass.shares.find(rank);
    const auto common = std::count_if(reader.sketch.begin(), reader.sketch.end(), [&](uint64_t hash) {
        const auto first = pass.first_reader.find(hash);
        if (pass.is_shared.count(hash) == 0 || first == pass.first_reader.end()) return false;
        const auto other = pass.shares.find(first->second);
        if (first->second == rank || other == pass.shares.end() || own == pass.shares.end()) return false;
        return own->second == -1 || own->second != other->second;
    });
    return static_cast<size_t>(common) >= kFewestCommon &&
           static_cast<double>(common) > kLargestHealthyShare * static_cast<double>(reader.sketch.size());
}

}  // namespace inquest::replicas
