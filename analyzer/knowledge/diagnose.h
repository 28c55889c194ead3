// From facts to a diagnosis: chooses the root cause and fills in its texts.
#pragma once
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/match_condition.h"
#include "analyzer/model/diagnosis.h"
#include "analyzer/model/timeline.h"

namespace inquest::knowledge {

// Pure: the same arguments give the same diagnosis. `timeline` gives identity, notes and versions only.
model::Diagnosis diagnose(const Knowledge& knowledge, const Observations& observations,
                          const model::Timeline& timeline);

}  // namespace inquest::knowledge
