// Everything that configs/knowledge holds, loaded once and then constant.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyzer/knowledge/cause.h"
#include "analyzer/knowledge/load_error.h"
#include "analyzer/knowledge/signature.h"
#include "analyzer/knowledge/signature_matcher.h"

namespace inquest::knowledge {

struct Knowledge {
    std::vector<Cause> causes;  // ascending by id
    std::vector<Signature> signatures;
    SignatureMatcher matcher;

    const Cause* find(const std::string& id) const;
    const Cause& fallback() const;  // exactly one, checked while loading
};

// Loads <directory>/<family>/*.yaml and <directory>/signatures/*.yaml. Stops at the first error. Never
// throws.
tl::expected<Knowledge, LoadError> load_knowledge(const std::string& directory);

}  // namespace inquest::knowledge
