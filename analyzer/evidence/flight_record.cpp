#include "analyzer/evidence/flight_record.h"

#include <algorithm>
#include <array>

#include "analyzer/evidence/flight_entry.h"
#include "analyzer/evidence/json_tree.h"
#include "analyzer/evidence/pickle.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

// One dump: who reads it, where its damage goes.
struct Context {
    const Document& document;
    const Limits& limits;
    Notes& notes;
    const std::string& source;
};

std::string text_of(const Context& context, Value dict, std::string_view key) {
    const Value* value = context.document.tree.find(dict, key);
    return value == nullptr ? std::string() : clean_text(value->as_text());
}

int64_t integer_of(const Context& context, Value dict, std::string_view key) {
    const Value* value = context.document.tree.find(dict, key);
    return value == nullptr ? -1 : value->as_integer().value_or(-1);
}

// torch writes the text "[0, 1, 2]"; other writers of the format a list.
std::vector<int> ranks_of(const Context& context, Value group) {
    const Value* ranks = context.document.tree.find(group, "ranks");
    if (ranks == nullptr) return {};
    if (ranks->is_text()) return parse_rank_list(ranks->as_text());
    std::vector<int> result;
    for (const Value rank : context.document.tree.items(*ranks)) {
        result.push_back(
            static_cast<int>(std::clamp<int64_t>(rank.as_integer().value_or(-1), -1, INT32_MAX)));
    }
    return result;
}

// Calls handle(key, value) for every pair of a dict.
template <typename Handle>
void for_each_pair(const ValueTree& tree, const Value* dict, Handle handle) {
    if (dict == nullptr || dict->kind() != ValueKind::kDict) return;
    const Values pairs = tree.items(*dict);
    for (size_t i = 0; i + 1 < pairs.count; i += 2)
        handle(clean_text(pairs[i].as_text()), pairs[i + 1]);
}

void read_groups(const Context& context, Value root, model::FlightRecord& record) {
    constexpr size_t kMostMembers = 16'000'000;  // of all groups together; one list may be shared by many
    size_t members = 0;
    const ValueTree& tree = context.document.tree;
    for_each_pair(tree, tree.find(root, "pg_config"), [&](const std::string& name, Value group) {
        if (members > kMostMembers) return;
        std::vector<int> ranks = ranks_of(context, group);
        members += ranks.size();
        record.group_ranks[name] = std::move(ranks);
    });
    for_each_pair(tree, tree.find(root, "pg_status"), [&](const std::string& id, Value status) {
        record.status[id] = {integer_of(context, status, "last_enqueued_collective"),
                             integer_of(context, status, "last_started_collective"),
                             integer_of(context, status, "last_completed_collective")};
    });
}

void read_entries(const Context& context, Values entries, model::FlightRecord& record) {
    const size_t count = std::min(entries.count, context.limits.flight_entries);
    if (count < entries.count) context.notes.add(context.source, "flight recorder: later entries left out");
    FlightEntryReader reader(context.document.tree, context.limits);
    record.entries.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        if (entries[i].kind() == ValueKind::kDict) {
            record.entries.push_back(reader.read(entries[i]));
        } else {
            context.notes.add(context.source, "flight recorder: entry is no dictionary",
                              "entry " + std::to_string(i));
        }
    }
    if (reader.frames_exhausted()) context.notes.add(context.source, "flight recorder: frames left out");
}

// Some collectors write the list of entries alone.
Values entries_of(const ValueTree& tree, Value root) {
    if (root.kind() == ValueKind::kList) return tree.items(root);
    const Value* entries = tree.find(root, "entries");
    return entries == nullptr ? Values() : tree.items(*entries);
}

bool is_flight_document(const ValueTree& tree, Value root) {
    if (root.kind() == ValueKind::kDict) {
        return tree.find(root, "entries") != nullptr || tree.find(root, "pg_config") != nullptr ||
               tree.find(root, "pg_status") != nullptr;
    }
    const Values entries = entries_of(tree, root);
    return entries.count > 0 && tree.find(entries[0], "profiling_name") != nullptr;
}

std::optional<int> rank_of(const Context& context, Value root) {
    const int64_t rank = integer_of(context, root, "rank");
    if (rank >= 0 && rank <= INT32_MAX) return static_cast<int>(rank);
    return rank_from_file_name(context.source);
}

}  // namespace

bool looks_like_flight_json(std::string_view prefix) {
    static constexpr std::array<std::string_view, 6> kKeys = {
        "\"collective_seq_id\"", "\"pg_config\"",       "\"pg_status\"",
        "\"profiling_name\"",    "\"nccl_comm_state\"", "\"comm_lib_version\""};
    const size_t start = prefix.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || (prefix[start] != '{' && prefix[start] != '[')) return false;
    return std::any_of(kKeys.begin(), kKeys.end(),
                       [&](std::string_view key) { return prefix.find(key) != std::string_view::npos; });
}

std::optional<int> rank_from_file_name(std::string_view name) {
    name.remove_prefix(name.rfind('/') + 1);
    if (starts_with(name, "flight-")) return std::nullopt;
    for (const std::string_view extension : {".json", ".pickle", ".pkl", ".txt"}) {
        if (ends_with(name, extension)) name.remove_suffix(extension.size());
    }
    size_t start = name.size();
    while (start > 0 && is_digit(name[start - 1]))
        --start;
    const auto rank = parse_integer(name.substr(start));
    if (!rank || *rank > INT32_MAX) return std::nullopt;
    return static_cast<int>(*rank);
}

bool is_richer(const model::FlightRecord& a, const model::FlightRecord& b) {
    if (a.entries.size() != b.entries.size()) return a.entries.size() > b.entries.size();
    return !a.entries.empty() && a.entries.back().frames.size() > b.entries.back().frames.size();
}

std::optional<model::FlightRecord> read_flight_record(const std::string& source, std::string_view bytes,
                                                      const Limits& limits, Notes& notes) {
    const Document document =
        looks_like_pickle(bytes) ? read_pickle(bytes, limits) : read_json(bytes, limits);
    if (!document.damage.empty()) notes.add(source, document.damage);
    const Value root = document.root;
    if (!is_flight_document(document.tree, root)) {
        notes.add(source, "not a flight recorder dump");
        return std::nullopt;
    }
    const Context context{document, limits, notes, source};
    model::FlightRecord record;
    record.version = text_of(context, root, "version");
    record.rank = rank_of(context, root);
    record.source.source = source;
    read_groups(context, root, record);
    read_entries(context, entries_of(document.tree, root), record);
    return record;
}

}  // namespace inquest::evidence
