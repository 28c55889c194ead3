// The Python-level collectives of one process group, side by side for all ranks.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/detect/step_view.h"

namespace inquest::detect {

struct GroupCalls {
    std::string name;
    std::vector<size_t> members;  // indices into StepView::ranks that belong to the group, ascending
    // By member: position in the group's sequence, from 1, and the call. Point-to-point calls are left out.
    std::map<size_t, std::map<int64_t, const model::CollectiveCall*>> calls;
    bool complete = true;  // a member of the group has no box: its calls are not known
};

// Groups in order of their names. A group whose positions cannot be known (point-to-point calls among calls
// that the ring has overwritten) is left out.
std::vector<GroupCalls> collect_group_calls(const StepView& step);

// Collectives of which every member has to make the same one, so that another dtype or size cannot match.
bool sizes_must_agree(const std::string& operation);

// Whether two calls at one position can be one collective.
bool compatible(const model::CollectiveCall& a, const model::CollectiveCall& b);

bool same_site(const model::CollectiveCall& a, const model::CollectiveCall& b);

}  // namespace inquest::detect
