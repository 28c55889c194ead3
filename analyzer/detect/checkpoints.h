// The digests of all ranks, set side by side: what is compared with what, and who is on which side.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/detect/step_view.h"

namespace inquest::detect {

struct DigestOf {
    const RankView* view = nullptr;
    const model::StateDigest* digest = nullptr;
};

// The same part of the same state at the same moment on two or more of the ranks that should agree.
struct Comparison {
    model::Checkpoint at;
    std::vector<DigestOf> members;  // ascending by rank

    bool agrees() const;
    WallNs wall_ns() const;  // when the first of them was taken
};

// All comparisons of one part of what one optimizer trains, in order of training.
struct History {
    int64_t optimizer = 0;
    inquest_part part = INQUEST_PART_PARAMETERS;
    std::vector<int> ranks;
    std::string promise;
    std::vector<Comparison> comparisons;

    const Comparison* find(int64_t step, inquest_site site) const;
};

// Sites START and STEP only: before a save and at the end a rank may legally hold something else for a moment
// (an average that only rank 0 exports), and after a load the others may not have loaded yet.
std::vector<History> collect_histories(const StepView& step);

// The history of another part of the same state; nullptr: there is none.
const History* sibling(const std::vector<History>& all, const History& of, inquest_part part);

// The sides of a comparison. More than half of the members with one value are the majority.
struct Sides {
    std::vector<DigestOf> majority;  // empty: there is none
    std::vector<DigestOf> off;       // everybody else; all members when there is no majority
    bool tie = false;                // the two largest sides are equally large
    bool all_differ = false;         // no two members agree
};

Sides sides_of(const Comparison& comparison);

// Does a majority of at least two agree?
bool has_majority(const Comparison& comparison);

std::vector<int> ranks_of(const std::vector<DigestOf>& members);

}  // namespace inquest::detect
