// Reads node.json (docs/formats/evidence.md).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/evidence/clock_pair.h"
#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/model/timeline.h"

namespace inquest::evidence {

using ProcessKey = std::pair<int, uint64_t>;  // pid, start time in ticks

struct NodeEvidence {
    model::Node node;
    std::optional<int64_t> job;
    std::optional<std::string> step;
    std::optional<int> node_count;
    std::optional<int> task_count;
    std::vector<std::string> node_names;  // of the whole step
    std::vector<std::string> injected;
    std::vector<std::string> left_alone;
    std::map<ProcessKey, model::ProcessSample> processes;
};

bool looks_like_node_json(std::string_view prefix);

// nullopt (and a note) when the bytes are no node evidence. Its "damage" lines become notes too.
std::optional<NodeEvidence> read_node_json(const std::string& source, std::string_view bytes,
                                           const Limits& limits, Notes& notes);

}  // namespace inquest::evidence
