#include "analyzer/detect/group_calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace inquest::detect {
namespace {

using model::CollectiveCall;

constexpr std::array<std::string_view, 6> kPointToPoint = {
    "send", "recv", "isend", "irecv", "batch_isend_irecv", "send_object_list"};
constexpr std::array<std::string_view, 5> kEqualSizes = {"all_reduce", "broadcast", "reduce",
                                                         "all_gather_into_tensor", "reduce_scatter_tensor"};
constexpr std::array<std::string_view, 4> kRooted = {"broadcast", "reduce", "gather", "scatter"};

template <size_t kSize>
bool one_of(const std::array<std::string_view, kSize>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_point_to_point(const CollectiveCall& call) {
    return one_of(kPointToPoint, call.operation);
}

// Members by the group's record on any rank; else every rank that called it.
std::vector<int> member_ranks(const StepView& step, const std::string& group) {
    std::vector<int> members;
    for (const RankView& view : step.ranks) {
        for (const model::ProcessGroup& known : view.rank->groups) {
            if (known.name == group && !known.ranks.empty()) return known.ranks;
        }
        for (const CollectiveCall& call : view.rank->collectives) {
            if (call.group == group) {
                members.push_back(*view.rank->rank);
                break;
            }
        }
    }
    return members;
}

// nullopt: the positions cannot be known.
std::optional<std::map<int64_t, const CollectiveCall*>> calls_by_position(const model::Rank& rank,
                                                                          const std::string& group) {
    std::map<int64_t, const CollectiveCall*> calls;
    int64_t skipped = 0;
    for (const CollectiveCall& call : rank.collectives) {
        if (call.group != group) continue;
        if (is_point_to_point(call)) {
            ++skipped;
        } else if (call.sequence > skipped) {
            calls[call.sequence - skipped] = &call;
        }
    }
    if (skipped > 0 && rank.collectives_overwritten) return std::nullopt;
    return calls;
}

std::optional<GroupCalls> collect_group(const StepView& step, const std::string& name) {
    GroupCalls group;
    group.name = name;
    const std::vector<int> members = member_ranks(step, name);
    for (size_t index = 0; index < step.ranks.size(); ++index) {
        const model::Rank& rank = *step.ranks[index].rank;
        if (std::find(members.begin(), members.end(), *rank.rank) == members.end()) continue;
        auto calls = calls_by_position(rank, name);
        if (!calls) return std::nullopt;
        group.members.push_back(index);
        group.calls[index] = std::move(*calls);
    }
    group.complete = group.members.size() == members.size();
    return group;
}

}  // namespace

std::vector<GroupCalls> collect_group_calls(const StepView& step) {
    std::vector<std::string> names;
    for (const RankView& view : step.ranks) {
        for (const CollectiveCall& call : view.rank->collectives)
            names.push_back(call.group);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<GroupCalls> groups;
    for (const std::string& name : names) {
        if (auto group = collect_group(step, name)) groups.push_back(std::move(*group));
    }
    return groups;
}

bool sizes_must_agree(const std::string& operation) {
    return one_of(kEqualSizes, operation);
}

bool compatible(const CollectiveCall& a, const CollectiveCall& b) {
    if (a.operation != b.operation) return false;
    if (one_of(kRooted, a.operation) && a.peer >= 0 && b.peer >= 0 && a.peer != b.peer) return false;
    if (!sizes_must_agree(a.operation)) return true;
    return a.dtype == b.dtype && a.elements == b.elements;
}

bool same_site(const CollectiveCall& a, const CollectiveCall& b) {
    return a.operation == b.operation && a.place.file == b.place.file && a.place.line == b.place.line;
}

}  // namespace inquest::detect
