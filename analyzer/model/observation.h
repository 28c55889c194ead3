// A fact about the step that a detector has established. Passive data. An observation states what happened,
// never why: names of failure causes belong to configs/knowledge. docs/formats/knowledge.md lists every fact
// and its attributes; analyzer/model/fact_vocabulary.h is the same list for the loader.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/rank.h"
#include "analyzer/model/source.h"

namespace inquest::model {

// One item that proves something: which record or line says it.
struct Evidence {
    SourceRef source;
    std::optional<int> rank;
    WallNs wall_ns = 0;  // 0: unknown
    std::string text;
};

// A process that an observation is about.
struct Subject {
    std::optional<int> rank;  // nullopt: not a rank, or not known
    std::string node;         // empty: unknown
    int pid = 0;
    Place place;
};

// What differs between replicas, since when and where: the numbers behind a fact about them.
struct Divergence {
    std::string part;  // parameters, buffers, samples
    std::optional<int64_t> optimizer;
    std::optional<int64_t> first_bad_step;  // 0: before the first step
    std::optional<int64_t> last_good_step;  // nullopt: none is known
    std::vector<std::string> tensors;       // that differ at the first bad step; not all of many
    std::vector<int> ranks;                 // off the majority; all when there is none
    bool tie = false;                       // two equal sides: which one is right is not decided by counting
    std::string growth;                     // how the difference grows; empty: unknown
};

struct Observation {
    std::string fact;
    std::map<std::string, std::string> attributes;
    std::vector<Subject> subjects;  // ascending by rank; empty: about the whole step
    Place place;                    // where it happened in the user's program
    WallNs wall_ns = 0;             // when it happened; 0: unknown
    int64_t log_order = 0;          // order of log lines without a time, from 1; 0: not from a log
    std::vector<Evidence> evidence;
    std::optional<Divergence> divergence;
};

}  // namespace inquest::model
