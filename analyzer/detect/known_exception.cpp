#include "analyzer/detect/known_exception.h"

#include <fmt/format.h>

namespace inquest::detect {

KnownException know_exception(const knowledge::Knowledge& knowledge, const std::string& type,
                              const std::string& message) {
    KnownException known;
    for (const size_t index : knowledge.matcher.find(fmt::format("{}: {}", type, message))) {
        const knowledge::Signature& signature = knowledge.signatures[index];
        if (!signature.in_exceptions) continue;
        if (signature.role == knowledge::Role::kWitness) known.witness = true;
        if (known.known_as.empty()) known.known_as = signature.known_as;
        if (known.meaning.empty()) known.meaning = signature.meaning;
    }
    return known;
}

}  // namespace inquest::detect
