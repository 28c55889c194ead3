// Dumps of torch's flight recorder: pickles (ProcessGroupNCCL, pickle.dump) and JSON (fr_trace_json).
//
// Keys as PyTorch writes them in torch/csrc/distributed/c10d/FlightRecorderDetail.hpp; versions 1.1 to 2.10
// are known (docs/formats/flight_recorder.md). No key is required and no version is looked at.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/evidence/value_tree.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

// True when the first bytes are a JSON object with keys that only a flight recorder writes.
bool looks_like_flight_json(std::string_view prefix);

// Reads either form. nullopt (and a note) when nothing of a dump is in it.
std::optional<model::FlightRecord> read_flight_record(const std::string& source, std::string_view bytes,
                                                      const Limits& limits, Notes& notes);

// Rank from the digits that end a file name ("nccl_trace_rank_12", "dump_3.json"); nullopt when there are
// none and for "flight-<pid>-<start>.json", whose digits are something else.
std::optional<int> rank_from_file_name(std::string_view name);

// Of two dumps of one process (pickle and JSON) the one with more in it counts, at a tie the one with stack
// frames.
bool is_richer(const model::FlightRecord& a, const model::FlightRecord& b);

}  // namespace inquest::evidence
