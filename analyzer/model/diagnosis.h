// What the analyzer concludes about one step. Passive data; configs/schemas/diagnosis.schema.json describes
// its JSON form. Texts hold what the evidence said, unfiltered: analyzer/report sanitises them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/observation.h"
#include "analyzer/model/source.h"

namespace inquest::model {

enum class Confidence { kUnknown = 0, kPossible = 1, kLikely = 2, kCertain = 3 };

struct Party {
    std::optional<int> rank;
    std::string node;  // empty: unknown
    Place place;
    std::string why;
};

struct ChainLink {
    std::string text;
    std::vector<size_t> evidence;  // indices into Diagnosis::evidence
};

struct Fix {
    std::string framework;  // for people: "PyTorch DDP"
    std::string text;
    std::string code;  // empty: none
    std::string why;   // why it works
};

struct Diagnosis {
    std::optional<int64_t> job;
    std::optional<std::string> step;
    std::string cause;
    std::string family;  // empty: none
    std::string name;    // of the cause, for people
    Confidence confidence = Confidence::kUnknown;
    std::string headline;  // "hung in all_reduce #12": completes "job 4711 ..."
    std::string summary;   // one sentence
    std::string end;       // hang, slow, crash, exit, silent, healthy, unknown
    std::vector<Party> initiating;
    std::vector<Party> collateral;
    std::vector<std::string> contributing;
    std::vector<ChainLink> chain;
    std::vector<Evidence> evidence;
    std::vector<std::string> supporting;  // "for" in JSON
    std::vector<std::string> against;
    std::optional<std::string> missing_fact;
    std::optional<Divergence> divergence;
    std::optional<Fix> fix;
    std::optional<std::string> verify;
    std::string hardware_or_software;
    std::string checkpoint;
    std::vector<std::string> prevention;
    std::vector<std::string> related;
    std::vector<std::string> notes;
    std::optional<std::vector<std::string>> injected;
    std::map<std::string, std::optional<std::string>> versions;
    bool worth_a_notice = false;  // false: healthy, or slow without a bad end
};

}  // namespace inquest::model
