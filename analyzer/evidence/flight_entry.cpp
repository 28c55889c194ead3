#include "analyzer/evidence/flight_entry.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

using model::FlightEntry;
using Reader = FlightEntryReader;

constexpr int64_t kNsPerMs = 1'000'000;

int64_t milliseconds_to_ns(int64_t ms) {
    int64_t ns = 0;
    return __builtin_mul_overflow(ms, kNsPerMs, &ns) ? INT64_MAX : ns;
}

// Absent times are None in the pickle and 0 in the JSON form.
void set_integer(int64_t& field, Value value) {
    field = value.as_integer().value_or(field);
}

// Keys of one entry. seq_id is what versions before 2.0 had instead of the two sequence numbers.
const std::unordered_map<std::string_view, void (*)(Reader&, FlightEntry&, Value)>& setters() {
    static const std::unordered_map<std::string_view, void (*)(Reader&, FlightEntry&, Value)> table = {
        {"record_id", [](Reader&, FlightEntry& e, Value v) { set_integer(e.record_id, v); }},
        {"pg_id", [](Reader&, FlightEntry& e, Value v) { set_integer(e.group_id, v); }},
        {"process_group", [](Reader& r, FlightEntry& e, Value v) { r.set_group(e, v); }},
        {"seq_id", [](Reader&, FlightEntry& e, Value v) { set_integer(e.collective_sequence, v); }},
        {"collective_seq_id",
         [](Reader&, FlightEntry& e, Value v) { set_integer(e.collective_sequence, v); }},
        {"p2p_seq_id", [](Reader&, FlightEntry& e, Value v) { set_integer(e.p2p_sequence, v); }},
        {"profiling_name", [](Reader&, FlightEntry& e, Value v) { e.operation = clean_text(v.as_text()); }},
        {"time_created_ns", [](Reader&, FlightEntry& e, Value v) { set_integer(e.created_ns, v); }},
        {"time_discovered_started_ns",
         [](Reader&, FlightEntry& e, Value v) { set_integer(e.started_ns, v); }},
        {"time_discovered_completed_ns",
         [](Reader&, FlightEntry& e, Value v) { set_integer(e.completed_ns, v); }},
        {"input_sizes", [](Reader& r, FlightEntry& e, Value v) { e.input_sizes = r.sizes(v); }},
        {"input_dtypes", [](Reader& r, FlightEntry& e, Value v) { e.input_dtypes = r.texts(v); }},
        {"output_sizes", [](Reader& r, FlightEntry& e, Value v) { e.output_sizes = r.sizes(v); }},
        {"state", [](Reader&, FlightEntry& e, Value v) { e.state = clean_text(v.as_text()); }},
        {"retired", [](Reader&, FlightEntry& e, Value v) { e.retired = v.as_boolean().value_or(false); }},
        {"is_p2p", [](Reader&, FlightEntry& e, Value v) { e.is_p2p = v.as_boolean().value_or(false); }},
        {"timeout_ms", [](Reader&, FlightEntry& e,
                          Value v) { e.timeout_ns = milliseconds_to_ns(v.as_integer().value_or(0)); }},
        {"frames", [](Reader& r, FlightEntry& e, Value v) { r.set_frames(e, v); }},
    };
    return table;
}

void ignore_value(Reader& /*reader*/, FlightEntry& /*entry*/, Value /*value*/) {}

}  // namespace

FlightEntry FlightEntryReader::read(Value entry) {
    FlightEntry result;
    const Values pairs = tree_.items(entry);
    for (size_t i = 0; 2 * i + 1 < pairs.count; ++i) {
        setter_for(i, pairs[2 * i].as_text())(*this, result, pairs[2 * i + 1]);
    }
    return result;
}

FlightEntryReader::Setter FlightEntryReader::setter_for(size_t position, std::string_view key) {
    constexpr size_t kMostKeys = 64;
    if (position < layout_.size() && layout_[position].key == key) return layout_[position].setter;
    const auto known = setters().find(key);
    const Setter setter = known == setters().end() ? ignore_value : known->second;
    if (position < kMostKeys) {
        if (position >= layout_.size()) layout_.resize(position + 1);
        layout_[position] = {key, setter};
    }
    return setter;
}

// Shared containers are cheap to write and dear to copy: what is copied in all is bounded.
bool FlightEntryReader::spend(size_t& budget, size_t count) const {
    const bool enough = count <= budget;
    budget = enough ? budget - count : 0;
    return enough;
}

// (name, description) since 2.0, the bare name before.
void FlightEntryReader::set_group(FlightEntry& entry, Value value) const {
    const Values parts = tree_.items(value);
    entry.group = clean_text(parts.count > 0 ? parts[0].as_text() : value.as_text());
    if (parts.count > 1) entry.group_description = clean_text(parts[1].as_text());
}

void FlightEntryReader::set_frames(FlightEntry& entry, Value value) {
    const Values frames = tree_.items(value);
    if (!spend(frames_left_, frames.count)) return;
    entry.frames.reserve(frames.count);
    for (const Value frame : frames) {
        model::Place place;
        if (const Value* file = tree_.find(frame, "filename")) place.file = clean_text(file->as_text());
        if (const Value* name = tree_.find(frame, "name")) place.function = clean_text(name->as_text());
        if (const Value* line = tree_.find(frame, "line")) place.line = line->as_integer().value_or(0);
        entry.frames.push_back(std::move(place));
    }
}

std::vector<std::vector<int64_t>> FlightEntryReader::sizes(Value value) {
    std::vector<std::vector<int64_t>> result;
    const Values tensors = tree_.items(value);
    if (!spend(sizes_left_, tensors.count)) return result;
    result.reserve(tensors.count);
    for (const Value tensor : tensors) {
        const Values dimensions = tree_.items(tensor);
        if (!spend(sizes_left_, dimensions.count)) return result;
        std::vector<int64_t>& size = result.emplace_back();
        size.reserve(dimensions.count);
        for (const Value dimension : dimensions)
            size.push_back(dimension.as_integer().value_or(-1));
    }
    return result;
}

std::vector<std::string> FlightEntryReader::texts(Value value) {
    std::vector<std::string> result;
    const Values items = tree_.items(value);
    if (!spend(sizes_left_, items.count)) return result;
    result.reserve(items.count);
    for (const Value item : items)
        result.push_back(clean_text(item.as_text()));
    return result;
}

}  // namespace inquest::evidence
