/* The settings: what Inquest can set in a step's environment, when, and why, as data
 * (configs/settings/GROUP.yaml; inquest-settings-1, described in inquest.yaml(5)).
 *
 * The same data decides (decision.h) and explains (settings_text.h), so that what is said is what is done. */
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "spank/launch/parameters.h"

namespace inquest::launch {

enum class How {
    kSet,     /* variables, set together or left alone together */
    kAppend,  /* one part after the user's own, which stay */
    kPrepend, /* one part before the user's own, which stay */
    kHook     /* no variable: the Python hook does it in each rank; listed for explanation */
};

/* When a setting applies: all that is said must hold; an empty list and nullopt say nothing. */
struct When {
    std::vector<std::string> profile;
    std::vector<std::string> deterministic;
    std::vector<std::string> nccl_debug;
    std::optional<bool> seed;    /* whether one is given */
    std::optional<bool> timeout; /* the same */
};

struct Setting {
    std::string id;
    std::string group; /* the file's title */
    When when;
    How how = How::kSet;
    std::string separator; /* of the parts, with kAppend and kPrepend */
    /* Variable (kHook: function) and value with placeholders, in the file's order. */
    std::vector<std::pair<std::string, std::string>> values;
    std::string what;
    std::string why;
    std::string cost;
    std::string since;
};

bool applies(const When& when, const Parameters& parameters);

/* Whether a file may hold settings for a step: one that has an option's name (seed.yaml) holds what only that
 * option asks for. Reading YAML is most of what a step waits for, and most steps have no option. */
bool may_apply(const std::string& file_name, const Parameters& parameters);

using IsWanted = std::function<bool(const std::string& file_name)>;

/* All settings of a directory's wanted *.yaml files in the order of their names. The error names file and
 * fault; one broken file spoils all, so that a step has everything or nothing. */
tl::expected<std::vector<Setting>, std::string> read_settings(
    const std::string& directory, const IsWanted& is_wanted = [](const std::string&) { return true; });

/* One file's settings from its text. */
tl::expected<std::vector<Setting>, std::string> parse_settings(const std::string& text);

}  // namespace inquest::launch
