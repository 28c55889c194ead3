// Reads a black box into what is known of its process. Damage becomes notes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/evidence/notes.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

struct BoxEvidence {
    model::Rank rank;
    std::optional<int64_t> job;       // nullopt: outside of Slurm
    std::optional<std::string> step;  // "0", "batch", "interactive", "extern"
};

// nullopt (and a note) when the bytes are no readable black box.
std::optional<BoxEvidence> read_black_box(const std::string& source, std::string_view bytes, Notes& notes);

}  // namespace inquest::evidence
