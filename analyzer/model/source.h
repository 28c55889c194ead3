// Where a fact was read, so that a person can look it up.
#pragma once
#include <cstdint>
#include <string>

namespace inquest::model {

struct SourceRef {
    std::string source;    // file, relative to what was analysed: "n3/box-815-4711.ibb.zst"
    std::string position;  // within it: "collectives record 17", "line 84"; empty: the whole file
};

// A place in the user's program. line 0: unknown.
struct Place {
    std::string file;  // path as the program knows it
    std::string function;
    int64_t line = 0;

    bool known() const { return !file.empty() && line > 0; }
};

// Damage met while reading: never an error, always told. Equal notes are counted, not repeated.
struct Note {
    SourceRef source;
    std::string text;
    uint64_t count = 1;
};

}  // namespace inquest::model
