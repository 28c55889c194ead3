// A message of a program that Inquest knows: what it means and whether its printer is a culprit or a witness.
// configs/knowledge/signatures/*.yaml; docs/formats/knowledge.md documents each field.
#pragma once
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyzer/knowledge/load_error.h"

namespace inquest::knowledge {

enum class Role {
    kWitness,  // the printer suffers from what happened elsewhere
    kCulprit,  // what happened to the printer
    kContext,  // says something about the step, blames nobody
    kHarmless
};

struct Signature {
    // The text between `after` and the first character that is not of the kind.
    struct Capture {
        std::string name;
        std::string after;
        bool number = true;  // false: up to the next of " ,;)\"'" or the end
    };

    std::string id;
    std::vector<std::string> literals;  // any of them
    std::vector<std::string> patterns;  // Vectorscan expressions, any of them
    Role role = Role::kContext;
    bool in_logs = true;
    bool in_exceptions = true;
    std::string known_as;  // kind of failure that special knowledge would decide; empty: none
    std::string meaning;   // one sentence for people
    std::vector<Capture> captures;
    std::string states;                             // fact that a log line with it states; empty: log_line
    std::map<std::string, std::string> attributes;  // of that fact
};

inline const char* role_name(Role role) {
    switch (role) {
        case Role::kWitness:
            return "witness";
        case Role::kCulprit:
            return "culprit";
        case Role::kContext:
            return "context";
        case Role::kHarmless:
            return "harmless";
    }
    return "context";
}

// Reads one signature file. Never throws.
tl::expected<std::vector<Signature>, LoadError> load_signatures(const std::string& file,
                                                                const std::string& shown_as);
tl::expected<std::vector<Signature>, LoadError> parse_signatures(const std::string& yaml,
                                                                 const std::string& shown_as);

}  // namespace inquest::knowledge
