/* node.json of docs/formats/evidence.md: facts in, text out. Pure. */
#ifndef INQUEST_SPANK_HARVEST_NODE_JSON_H
#define INQUEST_SPANK_HARVEST_NODE_JSON_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spank/harvest/process_table.h"
#include "spank/harvest/step_description.h"

namespace inquest::harvest {

/* Why a harvest is taken. */
enum class Reason { stall, death, failure, end, requested, divergence };

/* A process that owns a box. An absent value could not be read. */
struct ProcessRecord {
    ProcessIdentity process;
    bool alive = false;
    std::optional<char> state;
    std::optional<uint64_t> gone_mono_ns; /* when the worker noticed that it was gone */
    /* Collectives, backward calls and steps so far: the same number again means no progress in between. */
    std::optional<uint64_t> calls_begun;
    std::optional<uint64_t> cpu_ns; /* two samples, cpu_interval_ns apart */
    std::optional<uint64_t> cpu_after_ns;
    std::optional<uint64_t> cpu_interval_ns;
    std::optional<uint64_t> bytes_written; /* at the same two moments */
    std::optional<uint64_t> bytes_written_after;
};

struct NodeFacts {
    Reason reason = Reason::end;
    uint64_t collected_mono_ns = 0;
    uint64_t collected_wall_ns = 0;
    std::optional<uint64_t> stalled_since_mono_ns;
    std::optional<uint64_t> divergence_noticed_mono_ns;
    bool cancelled_for_divergence = false; /* by this node's worker; the diagnosis that led to it stands */
    std::vector<ProcessRecord> processes;
    std::vector<std::string> damage;
};

/* Bytes that are not UTF-8 are replaced: names come from the user's environment. */
std::string render_node_json(const StepDescription& step, const NodeFacts& facts);

}  // namespace inquest::harvest

#endif
