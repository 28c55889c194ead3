// Texts of the knowledge base with placeholders: "rank {ranks} waits at {place}".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/observation.h"

namespace inquest::knowledge {

using Values = std::map<std::string, std::string>;

// Placeholders that every observation has, besides its attributes.
const std::vector<std::string>& common_placeholders();

// Names of the placeholders of `text`, in order.
std::vector<std::string> placeholders(const std::string& text);

// Fills in the placeholders; a value that is not known becomes "?".
std::string fill_in(const std::string& text, const Values& values);

// "rank 2", "ranks 0, 1, 3-31"; "no rank" when empty.
std::string describe_ranks(std::vector<int> ranks);

// "train.py:84", or "an unknown place". Only the file's own name: paths differ between nodes.
std::string describe_place(const model::Place& place);

// Attributes and common placeholders of an observation.
Values values_of(const model::Observation& observation);

}  // namespace inquest::knowledge
