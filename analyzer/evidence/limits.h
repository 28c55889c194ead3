// How much of hostile input is read, kept and followed. Every reader takes its bounds from here.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inquest::evidence {

constexpr uint64_t kMebibyte = uint64_t{1024} * 1024;

struct Limits {
    uint64_t box_bytes = 16 * kMebibyte;
    uint64_t table_bytes = 8 * kMebibyte;
    uint64_t decompressed_bytes = 16 * kMebibyte;
    uint64_t flight_bytes = 256 * kMebibyte;
    uint64_t stack_bytes = 16 * kMebibyte;
    uint64_t node_json_bytes = 16 * kMebibyte;
    uint64_t log_head_bytes = 16 * kMebibyte;  // of a log: its beginning and
    uint64_t log_tail_bytes = 48 * kMebibyte;  // its end are kept
    size_t log_line_bytes = size_t{64} * 1024;
    size_t files = 200'000;
    size_t directory_depth = 6;
    size_t tree_values = 64'000'000;  // values of one pickle or JSON document
    size_t flight_entries = 1'000'000;
    size_t flight_frames = 4'000'000;  // of all entries of one dump together
    size_t stack_frames = 200'000;
};

}  // namespace inquest::evidence
