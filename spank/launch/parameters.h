/* What the user's options and the site's configuration come down to for one step. */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inquest::launch {

/* The words that options and configuration know; the plugin offers the same (spank/plugin/options.c). */
inline constexpr std::array<std::string_view, 3> kProfiles = {"light", "standard", "deep"};
inline constexpr std::array<std::string_view, 3> kDeterministicModes = {"off", "warn", "strict"};
/* NCCL 2.30, docs/userguide/source/env.rst, NCCL_DEBUG. */
inline constexpr std::array<std::string_view, 4> kNcclDebugLevels = {"VERSION", "WARN", "INFO", "TRACE"};
inline constexpr std::array<std::string_view, 2> kDivergenceActions = {"report", "cancel"};

inline constexpr uint32_t kStallMinSeconds = 1;
inline constexpr uint32_t kStallMaxSeconds = 86400;
inline constexpr uint32_t kTimeoutMinSeconds = 1;
inline constexpr uint32_t kTimeoutMaxSeconds = 604800;

struct Parameters {
    std::string profile;
    std::string deterministic;
    std::optional<uint32_t> seed;
    std::optional<std::string> nccl_debug;
    std::optional<uint32_t> timeout_seconds;
};

}  // namespace inquest::launch
