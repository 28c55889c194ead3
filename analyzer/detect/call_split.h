// Finds the position at which the ranks of a group stop making the same collective calls, and which side of
// the split made a call that the other side does not make there.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/detect/group_calls.h"

namespace inquest::detect {

// Ranks that did the same at the position. `call` is null when they did not enter any call of the group.
struct Side {
    std::vector<size_t> ranks;  // indices into StepView::ranks, ascending
    const model::CollectiveCall* call = nullptr;
};

// How it is known which side made the additional call.
enum class SideProof {
    kAlignment,  // without it the calls that follow agree again
    kOneSided,   // only this side ever makes the call, and the others' call is one that both make
    kLineOrder,  // both calls are new to the other side; this one stands before the other in one function
    kEntryTime,  // as before, and this one was entered earlier
    kHistory,    // both sides know both calls; one of them has always followed the call before
    kNone
};

struct CallSplit {
    int64_t position = 0;
    Side majority;
    Side minority;  // of equal size: in order of the lowest rank
    bool tie = false;
    bool incompatible = true;  // false: one side never entered the position
    // The side that made a call that the other does not make there.
    bool majority_is_extra = false;
    SideProof proof = SideProof::kNone;
};

// nullopt: all ranks made the same calls, or those that lack one were merely not there yet, or ended.
std::optional<CallSplit> find_call_split(const StepView& step, const GroupCalls& group);

// Ranks that have not entered the first position that others wait in, and neither wait elsewhere nor ended.
struct Absence {
    int64_t position = 0;
    std::vector<size_t> absent;
    std::vector<size_t> present;
    const model::CollectiveCall* call = nullptr;  // of the present
};
std::optional<Absence> find_absence(const StepView& step, const GroupCalls& group);

}  // namespace inquest::detect
