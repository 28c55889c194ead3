// Turns the entries of a flight recorder document into model::FlightEntry.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/value_tree.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

// One converter per document: entries repeat the same keys in the same order, which it makes use of.
class FlightEntryReader {
 public:
    FlightEntryReader(const ValueTree& tree, const Limits& limits)
        : tree_(tree), frames_left_(limits.flight_frames), sizes_left_(limits.tree_values) {}

    model::FlightEntry read(Value entry);
    bool frames_exhausted() const { return frames_left_ == 0; }

    // Public for the table of keys only.
    void set_group(model::FlightEntry& entry, Value value) const;
    void set_frames(model::FlightEntry& entry, Value value);
    std::vector<std::vector<int64_t>> sizes(Value value);
    std::vector<std::string> texts(Value value);

 private:
    using Setter = void (*)(FlightEntryReader&, model::FlightEntry&, Value);
    struct KnownKey {
        std::string_view key;
        Setter setter = nullptr;
    };
    Setter setter_for(size_t position, std::string_view key);
    bool spend(size_t& budget, size_t count) const;

    const ValueTree& tree_;
    size_t frames_left_;
    size_t sizes_left_;
    std::vector<KnownKey> layout_;  // the keys of the entry before, by position
};

}  // namespace inquest::evidence
