// What every fuzz target gives: libFuzzer's entry point, also called by replay_main.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace inquest::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// A property that holds for every input; the program stops where it does not.
inline void require(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "violated: %s\n", what);
    abort();
}

}  // namespace inquest::fuzz
