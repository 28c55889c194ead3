// Reads a black box into what is known of its process. Damage becomes notes.
#pragma once
#include <cstdint>
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
// `earlier` is empty or an earlier copy of the same box: events and digests that were overwritten since are
// taken from there.
std::optional<BoxEvidence> read_black_box(const std::string& source, std::string_view bytes, Notes& notes,
                                          std::string_view earlier = {});

}  // namespace inquest::evidence
