// What the signatures of the knowledge base say about an exception.
#pragma once
#include <string>

#include "analyzer/knowledge/knowledge.h"

namespace inquest::detect {

struct KnownException {
    bool witness = false;  // whoever raises it suffers from another process
    std::string known_as;  // kind of failure that it belongs to; empty: none
    std::string meaning;
};

KnownException know_exception(const knowledge::Knowledge& knowledge, const std::string& type,
                              const std::string& message);

}  // namespace inquest::detect
