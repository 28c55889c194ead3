// One root cause as configs/knowledge/<family>/<id>.yaml describes it: the rules that prove it in terms of
// facts, and everything that people want to read about it. docs/formats/knowledge.md documents each field.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/diagnosis.h"

namespace inquest::knowledge {

enum class RankRelation { kAny, kSame, kOther };
enum class TimeRelation { kAny, kBefore, kAfter };
enum class Weight { kNone, kStrengthen, kWeaken };

// "There is an observation with this fact and these attributes", relative to the subject of the rule.
struct Condition {
    std::string fact;
    std::map<std::string, std::vector<std::string>> where;  // attribute: one of these values
    RankRelation ranks = RankRelation::kAny;
    TimeRelation when = TimeRelation::kAny;
    Weight weight = Weight::kNone;
    std::string text;  // template; empty where the format has none
};

struct Rule {
    std::string id;
    std::optional<Condition> subject;  // its ranks initiate; nullopt only in the fallback cause
    std::vector<Condition> all;
    std::vector<Condition> any;
    std::vector<Condition> none;
    model::Confidence confidence = model::Confidence::kUnknown;
    std::string family;  // of what is known without a cause; empty: the cause's
    std::string end;     // "observed": what the subject's attribute at_end says
    std::string headline;
    std::string summary;
    std::string initiator;     // why a rank initiates
    std::string missing_fact;  // template; empty: none
    bool blames = true;        // false: the subject's ranks are named in the texts only
};

struct Question {
    std::string question;
    std::string answer;
};

struct Symptom {
    std::string symptom;
    std::string why;
};

struct Cause {
    std::string id;
    std::string family;  // empty for causes without a family
    std::string file;    // it was loaded from
    std::string name;
    std::vector<std::string> tags;
    int specificity = 0;  // among proven causes with the same culprit the highest wins
    bool fallback = false;
    bool silent = false;  // nothing failed: no notice, no report directory
    bool yields = false;  // never the root when a failure of the step is proven: the program went on
    std::vector<Rule> rules;
    std::vector<Condition> chain;
    std::vector<Condition> collateral;
    std::vector<Condition> evidence_for;
    std::vector<Condition> evidence_against;
    std::vector<Condition> contributing;
    std::string missing_fact;                 // when the confidence ends as possible
    std::map<std::string, model::Fix> fixes;  // by framework; "any" always exists
    std::string verify;
    std::string hardware_or_software;
    std::string checkpoint;

    std::string answer;
    std::string mechanism;
    std::vector<std::string> observe;
    std::vector<Symptom> symptoms;
    std::vector<std::string> affected;
    std::vector<std::string> checklist;
    std::vector<std::string> root_causes;
    std::vector<std::string> prevention;
    std::string smoke_test;
    std::vector<std::string> related;
    std::vector<Question> questions;
    std::vector<std::string> references;
    std::string executive;
    std::string engineer;
    std::string on_call;
};

}  // namespace inquest::knowledge
