// Which causes do the facts prove, and which of them is the root?
#pragma once
#include <vector>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/match_condition.h"

namespace inquest::knowledge {

// A rule whose conditions hold.
struct Hypothesis {
    const Cause* cause = nullptr;
    const Rule* rule = nullptr;
    model::Observation subject;  // merged: everything that happened alike at the same place; no fact: none
    model::Confidence confidence = model::Confidence::kUnknown;  // after what speaks for and against it
    ObservationRefs proofs;  // observations that satisfied `all` and `any`
};

// Every rule of every cause but the fallback that holds. The pointers live as long as the arguments.
std::vector<Hypothesis> find_hypotheses(const Knowledge& knowledge, const Observations& observations);

// The root among them: proven before merely possible, then the earliest in time, then, among those with the
// same culprits, the most specific. Causes that yield stand back when a failure is proven. Falls back to the
// first rule of the fallback cause that holds.
Hypothesis choose_root(const Knowledge& knowledge, const Observations& observations);

}  // namespace inquest::knowledge
