/* Placeholders in the values of settings: {box_dir}, {hook_dir}, {seed}, {nccl_debug}, {timeout_seconds},
 * {timeout_minutes}, {heartbeat_seconds}. */
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spank/launch/parameters.h"

namespace inquest::launch {

/* What a step's values are made of. */
struct Context {
    Parameters parameters;
    std::string box_directory;
    std::string hook_directory;
};

/* The value for a step. A placeholder whose parameter was not given becomes an empty text. */
std::string rendered(std::string_view value, const Context& context);

/* The first placeholder in `value` that there is not; nullopt when all are known. */
std::optional<std::string> unknown_placeholder(std::string_view value);

}  // namespace inquest::launch
