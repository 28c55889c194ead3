// The rule part of a cause file: conditions on facts. Throws FieldError, like YamlFields.
#pragma once
#include <string>
#include <vector>

#include "analyzer/knowledge/cause.h"
#include "analyzer/knowledge/yaml_fields.h"

namespace inquest::knowledge {

std::vector<Rule> read_rules(const YamlFields& fields);

// Conditions with a text that is shown, whose placeholders are those of the fact.
std::vector<Condition> read_told_conditions(const YamlFields& fields, const std::string& name);

}  // namespace inquest::knowledge
