// Why a file of configs/knowledge could not be loaded. Coded, with the place of the mistake.
#pragma once
#include <cstdint>
#include <string>

namespace inquest::knowledge {

enum class LoadErrorCode {
    kUnreadable = 1,        // K001 the file or directory cannot be read
    kNotYaml = 2,           // K002 not well-formed YAML
    kMissingField = 3,      // K003 a required field is absent or empty
    kWrongType = 4,         // K004 a field has another type than expected
    kUnknownField = 5,      // K005 a field that the format does not have
    kUnknownFact = 6,       // K006 a fact or attribute that no detector states
    kUnknownValue = 7,      // K007 a word outside the allowed ones
    kDuplicateId = 8,       // K008 two entries with one id
    kBadPlaceholder = 9,    // K009 a text names a placeholder that its facts do not have
    kBadPattern = 10,       // K010 a signature's pattern does not compile or is too long
    kNoFallback = 11,       // K011 not exactly one fallback cause
    kUnknownReference = 12  // K012 an id that no file defines
};

struct LoadError {
    LoadErrorCode code = LoadErrorCode::kUnreadable;
    std::string file;
    int64_t line = 0;  // from 1; 0: the whole file
    std::string text;

    // "K003 collective.yaml:12: field 'answer' is missing"
    std::string describe() const;
};

}  // namespace inquest::knowledge
