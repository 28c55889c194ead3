/* What the epilog needs of a diagnosis, as one fixed-size struct.
 *
 * The child that runs as the user fills it from diagnosis.json and writes it into a pipe; root reads exactly
 * sizeof(DiagnosisFields) bytes. Everything in it is hostile until record_line.h has checked it: texts need
 * not be terminated, counts need not be in range. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace inquest::epilog {

inline constexpr std::size_t kMaxRankRanges = 64;
inline constexpr std::size_t kMaxNamedNodes = 16;

/* Both ends belong to the range. */
struct RankRange {
    std::int32_t first;
    std::int32_t last;
};

/* Ranks in ascending order. `total` counts all of them, also those whose range found no room. */
struct RankSet {
    std::uint32_t total;
    std::uint32_t range_count;
    RankRange range[kMaxRankRanges];
};

/* In the order of their lowest ranks; `total` counts all of them, also those that found no room. */
struct NodeSet {
    std::uint32_t total;
    char name[kMaxNamedNodes][64];
};

/* What differs between replicas; none: nothing is known to. */
enum class DifferingPart : std::uint32_t { kNone = 0, kParameters = 1, kBuffers = 2, kSamples = 3 };

enum class Confidence : std::uint32_t { kUnknown = 0, kPossible = 1, kLikely = 2, kCertain = 3 };

/* Texts are NUL-padded; a text that does not fit is left empty, never cut to another name. */
struct DiagnosisFields {
    char cause[64];
    char family[64];
    std::uint32_t confidence;     /* Confidence */
    std::uint32_t line;           /* of the first initiating rank's place, 0 unknown */
    std::uint32_t is_silent;      /* 1: nothing failed, but the result is wrong; such a step may end with 0 */
    std::uint32_t differing_part; /* DifferingPart */
    std::int64_t first_bad_step;  /* -1 unknown */
    std::int64_t last_good_step;  /* -1 unknown */
    RankSet initiating;
    RankSet collateral;
    NodeSet nodes;  /* of the initiating ranks */
    char file[256]; /* of the first one's place, as the diagnosis has it */
};
static_assert(std::is_trivially_copyable_v<DiagnosisFields>, "crosses a pipe");

/* Sorts, removes duplicates and negative ranks, joins neighbours. */
RankSet compress_ranks(std::vector<std::int32_t> ranks);

/* Reads the text of a diagnosis.json (schema inquest-diagnosis-1). False when it is no JSON object, has
 * another schema, is of another step or has no cause; absent or ill-typed optional fields stay empty. */
bool read_diagnosis_fields(std::string_view json, std::string_view step_name, DiagnosisFields& fields);

/* The characters before the first NUL, or all of them. */
template <std::size_t N>
std::string_view bounded_text(const char (&text)[N]) {
    const std::string_view whole(text, N);
    return whole.substr(0, whole.find('\0'));
}

}  // namespace inquest::epilog
