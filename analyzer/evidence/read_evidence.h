// Reads everything that is known about one step. The only entry point that other parts need.
//
// A pure function of the named files (and of standard input): no clock, no /proc, no network. Damage of any
// kind becomes a note in the timeline; that nothing at all could be read is the only error.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyzer/evidence/limits.h"
#include "analyzer/model/timeline.h"

namespace inquest::evidence {

// A path is a step's evidence directory (docs/formats/evidence.md), a report directory or any other
// directory, a single file, or "-" for standard input. Files are recognised by content: black boxes, zstd,
// flight recorder pickles and JSON, faulthandler stacks, node.json; everything else is a log. When several
// steps are found, the one that failed first is taken and a note tells of the others. The error is a sentence
// for a person.
tl::expected<model::Timeline, std::string> read_evidence(const std::vector<std::string>& paths,
                                                         const Limits& limits = {});

}  // namespace inquest::evidence
