// A timeline all the way to its diagnosis with the knowledge that is shipped.
#pragma once
#include <string>
#include <vector>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/diagnose.h"
#include "analyzer/knowledge/knowledge.h"
#include "tests/unit/catch.h"

namespace inquest::test {

inline const knowledge::Knowledge& shipped_knowledge() {
    static const auto kLoaded = knowledge::load_knowledge(INQUEST_TEST_KNOWLEDGE);
    if (!kLoaded) FAIL(kLoaded.error().describe());
    return *kLoaded;
}

inline model::Diagnosis diagnosis_of(const model::Timeline& timeline) {
    const knowledge::Knowledge& known = shipped_knowledge();
    return knowledge::diagnose(known, detect::detect_all(timeline, known), timeline);
}

inline std::vector<int> ranks_in(const std::vector<model::Party>& parties) {
    std::vector<int> ranks;
    for (const model::Party& party : parties)
        ranks.push_back(party.rank.value_or(-1));
    return ranks;
}

}  // namespace inquest::test
