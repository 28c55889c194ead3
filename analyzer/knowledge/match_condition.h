// Does an observation satisfy a condition of a rule, given the rule's subject?
#pragma once
#include <vector>

#include "analyzer/knowledge/cause.h"
#include "analyzer/model/observation.h"

namespace inquest::knowledge {

using Observations = std::vector<model::Observation>;
using ObservationRefs = std::vector<const model::Observation*>;

// True when it is certain that `a` happened before `b`: both have a time, or both stand in a log without
// times.
bool happened_before(const model::Observation& a, const model::Observation& b);

bool shares_a_rank(const model::Observation& a, const model::Observation& b);

// `subject` may be null: then relations other than "any" never hold.
bool satisfies(const model::Observation& observation, const Condition& condition,
               const model::Observation* subject);

ObservationRefs find_all(const Observations& observations, const Condition& condition,
                         const model::Observation* subject);

}  // namespace inquest::knowledge
