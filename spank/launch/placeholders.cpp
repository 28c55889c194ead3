#include "spank/launch/placeholders.h"

#include <algorithm>
#include <array>

namespace inquest::launch {
namespace {

/* PyTorch's own default has been 600 and 480 s (ProcessGroupNCCL.cpp of 2.3 and 2.6): never shorter than
 * either, and long enough that a collective's timeout comes first and is the one that is reported. */
constexpr uint32_t kHeartbeatMinSeconds = 600;
constexpr uint32_t kHeartbeatMarginSeconds = 120;
constexpr uint32_t kSecondsPerMinute = 60;

uint32_t timeout_seconds(const Context& context) {
    return context.parameters.timeout_seconds.value_or(0);
}

struct Placeholder {
    std::string_view name;
    std::string (*value)(const Context&);
};

const std::array<Placeholder, 7> kPlaceholders = {{
    {"box_dir", [](const Context& context) { return context.box_directory; }},
    {"hook_dir", [](const Context& context) { return context.hook_directory; }},
    {"seed",
     [](const Context& context) {
         const auto& seed = context.parameters.seed;
         return seed ? std::to_string(*seed) : std::string();
     }},
    {"nccl_debug", [](const Context& context) { return context.parameters.nccl_debug.value_or(""); }},
    {"timeout_seconds", [](const Context& context) { return std::to_string(timeout_seconds(context)); }},
    {"timeout_minutes",
     [](const Context& context) {
         return std::to_string((timeout_seconds(context) + kSecondsPerMinute - 1) / kSecondsPerMinute);
     }},
    {"heartbeat_seconds",
     [](const Context& context) {
         return std::to_string(
             std::max(kHeartbeatMinSeconds, timeout_seconds(context) + kHeartbeatMarginSeconds));
     }},
}};

const Placeholder* find_placeholder(std::string_view name) {
    const auto* found =
        std::find_if(kPlaceholders.begin(), kPlaceholders.end(),
                     [&](const Placeholder& placeholder) { return placeholder.name == name; });
    return found == kPlaceholders.end() ? nullptr : found;
}

/* The text between the first braces; the whole rest when the last one is missing. */
std::string_view name_at(std::string_view text, size_t brace) {
    return text.substr(brace + 1, text.find('}', brace) - brace - 1);
}

}  // namespace

std::string rendered(std::string_view value, const Context& context) {
    std::string result;
    for (size_t brace = 0; (brace = value.find('{')) != std::string_view::npos;) {
        std::string_view name = name_at(value, brace);
        const Placeholder* placeholder = find_placeholder(name);
        result += value.substr(0, brace);
        result += placeholder == nullptr ? "" : placeholder->value(context);
        value.remove_prefix(std::min(value.size(), brace + name.size() + 2));
    }
    return result.append(value);
}

std::optional<std::string> unknown_placeholder(std::string_view value) {
    for (size_t brace = value.find('{'); brace != std::string_view::npos;
         brace = value.find('{', brace + 1)) {
        std::string_view name = name_at(value, brace);
        if (find_placeholder(name) == nullptr) {
            return std::string(name);
        }
    }
    return std::nullopt;
}

}  // namespace inquest::launch
