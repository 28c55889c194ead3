#include "analyzer/detect/tensor_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace inquest::detect {
namespace {

using model::TensorDigest;
using model::TensorName;

// Of a part, named tensors at most; the number of all is told.
constexpr size_t kMostNames = 16;
constexpr int64_t kMostTensors = 1 << 20;
// A word has one lane; two tensors allow for a tied or fused copy.
constexpr int64_t kIsolatedTensors = 2;
constexpr int kIsolatedLanes = 2;
constexpr int64_t kWordBytes = 8;
// Sums in another order differ by a few units in the last place of the summands: 2^-24 in float32, 2^-9 in
// bfloat16, times a factor for cancellation. Different data change gradients by percents.
constexpr double kTinyRelative = 1e-4;
constexpr double kTinyRelativeNarrow = 1e-2;

const TensorDigest* entry_of(const DigestOf& member, int64_t index) {
    const auto& table = member.view->rank->replica.table;
    if (!table || member.digest->table < 0) return nullptr;
    const auto found = table->entries.find(static_cast<uint64_t>(member.digest->table + index));
    return found == table->entries.end() ? nullptr : &found->second;
}

const TensorName* name_of(const DigestOf& member, int64_t index) {
    const auto& table = member.view->rank->replica.table;
    if (!table) return nullptr;
    const auto part = table->names.find({member.digest->at.optimizer, member.digest->part});
    if (part == table->names.end()) return nullptr;
    const auto found = part->second.find(index);
    return found == part->second.end() ? nullptr : &found->second;
}

int count_lanes(const TensorDigest& a, const TensorDigest& b) {
    int lanes = 0;
    for (size_t lane = 0; lane < a.lanes.size(); ++lane)
        lanes += a.lanes[lane] != b.lanes[lane] ? 1 : 0;
    return lanes;
}

int64_t element_bytes(const std::string& dtype) {
    if (dtype.find("64") != std::string::npos) return 8;
    if (dtype.find("32") != std::string::npos) return 4;
    if (dtype.find("16") != std::string::npos) return 2;
    return 1;
}

// Words of a tensor, as many as its shape ("64x32") says, at least one.
int64_t words_of(const TensorName& tensor) {
    int64_t elements = 1;
    int64_t factor = 0;
    for (const char c : tensor.shape + "x") {
        if (c >= '0' && c <= '9' && factor < kMostTensors) factor = factor * 10 + (c - '0');
        if (c != 'x') continue;
        if (factor > 0 && elements < kMostTensors) elements *= factor;
        factor = 0;
    }
    return std::max<int64_t>(elements * element_bytes(tensor.dtype) / kWordBytes, 1);
}

class Comparer {
 public:
    Comparer(const DigestOf& reference, const DigestOf& other) : reference_(reference), other_(other) {}

    std::optional<TensorDifferences> compare() {
        found_.total = reference_.digest->tensors;
        if (found_.total != other_.digest->tensors || found_.total > kMostTensors) return std::nullopt;
        for (int64_t index = 0; index < found_.total; ++index) {
            const TensorDigest* mine = entry_of(reference_, index);
            const TensorDigest* theirs = entry_of(other_, index);
            if (mine == nullptr || theirs == nullptr) return std::nullopt;
            if (std::isfinite(mine->norm)) squares_ += mine->norm * mine->norm;
            if (mine->low != theirs->low || mine->high != theirs->high) add(index, *mine, *theirs);
        }
        judge();
        return found_;
    }

 private:
    void add(int64_t index, const TensorDigest& mine, const TensorDigest& theirs) {
        const TensorName* name = name_of(reference_, index);
        ++found_.differing;
        if (found_.names.size() < kMostNames) {
            found_.names.push_back(name == nullptr ? fmt::format("#{}", index) : name->name);
        }
        const int lanes = count_lanes(mine, theirs);
        found_.most_lanes = std::max(found_.most_lanes, lanes);
        if (name != nullptr) {
            found_.narrow = found_.narrow || element_bytes(name->dtype) < 4;
            // In a tensor of a few words a few lanes are all that there are.
            spacious_ = spacious_ || words_of(*name) >= int64_t{4} * kIsolatedLanes;
        }
        const double distance = mine.norm - theirs.norm;
        if (std::isfinite(distance)) difference_ += distance * distance;
        finite_ = finite_ && std::isfinite(distance);
    }

    void judge() {
        found_.relative = squares_ > 0 ? std::sqrt(difference_ / squares_) : 0;
        const bool few = found_.differing > 0 && found_.differing <= kIsolatedTensors;
        const bool most_untouched = found_.total > 2 * found_.differing;
        found_.isolated = few && found_.most_lanes <= kIsolatedLanes && (spacious_ || most_untouched);
        found_.tiny = found_.differing > 0 && finite_ &&
                      found_.relative <= (found_.narrow ? kTinyRelativeNarrow : kTinyRelative);
    }

    const DigestOf& reference_;
    const DigestOf& other_;
    TensorDifferences found_;
    double squares_ = 0;
    double difference_ = 0;
    bool finite_ = true;
    bool spacious_ = false;
};

// The larger of both in every respect.
void widen(TensorDifferences& all, const TensorDifferences& one) {
    if (one.differing > all.differing) {
        all.differing = one.differing;
        all.names = one.names;
    }
    all.most_lanes = std::max(all.most_lanes, one.most_lanes);
    all.relative = std::max(all.relative, one.relative);
    all.narrow = all.narrow || one.narrow;
    all.isolated = all.isolated && one.isolated;
    all.tiny = all.tiny && one.tiny;
}

}  // namespace

std::optional<TensorDifferences> compare_tensors(const DigestOf& reference, const DigestOf& other) {
    return Comparer(reference, other).compare();
}

std::optional<TensorDifferences> compare_tensors(const Sides& sides) {
    const DigestOf& reference = sides.majority.empty() ? sides.off.front() : sides.majority.front();
    std::optional<TensorDifferences> all;
    for (const DigestOf& member : sides.off) {
        if (member.view == reference.view) continue;
        const auto one = compare_tensors(reference, member);
        if (!one || one->differing == 0) continue;
        if (all) {
            widen(*all, *one);
        } else {
            all = one;
        }
    }
    return all;
}

}  // namespace inquest::detect
