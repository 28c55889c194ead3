// Bounded decompression of zstd frames.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/evidence/limits.h"

namespace inquest::evidence {

bool is_zstd(std::string_view bytes);

struct Decompressed {
    std::string data;   // everything up to the damage or the limit
    std::string error;  // empty: whole
};

Decompressed decompress_zstd(std::string_view bytes, uint64_t limit_bytes);

}  // namespace inquest::evidence
