#include "spank/launch/users_environment.h"

#include <algorithm>
#include <charconv>

#include "spank/launch/joined_value.h"
#include "spank/launch/placeholders.h"

namespace inquest::launch {
namespace {

std::optional<std::string> find(const Environment& environment, const std::string& name) {
    auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint32_t> find_number(const Environment& environment, const std::string& name) {
    const std::string text = find(environment, name).value_or("");
    uint32_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(number) : std::nullopt;
}

/* What the outer step's values were made of. */
Context outer_context(const Environment& environment, const std::string& hook_directory) {
    return {.parameters = {.profile = find(environment, "INQUEST_PROFILE").value_or(""),
                           .deterministic = find(environment, "INQUEST_DETERMINISTIC").value_or("off"),
                           .seed = find_number(environment, "INQUEST_SEED"),
                           .nccl_debug = find(environment, "INQUEST_NCCL_DEBUG"),
                           .timeout_seconds = find_number(environment, "INQUEST_TIMEOUT_SECONDS")},
            .box_directory = find(environment, "INQUEST_BOX_DIR").value_or(""),
            .hook_directory = hook_directory};
}

std::optional<std::string> without_own(const Setting& setting, const std::string& value,
                                       const std::string& own) {
    if (setting.how != How::kSet) {
        return without_part(setting, value, own);
    }
    return value == own ? std::nullopt : std::optional(value);
}

void take_out(const Setting& setting, const Context& outer, Environment& environment) {
    for (const auto& [name, value] : setting.values) {
        auto found = environment.find(name);
        if (found == environment.end()) {
            continue;
        }
        auto rest = without_own(setting, found->second, rendered(value, outer));
        if (rest) {
            found->second = *rest;
        } else {
            environment.erase(found);
        }
    }
}

}  // namespace

const std::vector<std::string>& own_names() {
    static const std::vector<std::string> names = {
        "INQUEST_REPORT_DIR", "INQUEST_STALL_SECONDS", "INQUEST_LIBRARY",         "INQUEST_INJECTED",
        "INQUEST_LEFT_ALONE", "INQUEST_PROFILE",       "INQUEST_DIGEST_SHARE",    "INQUEST_DETERMINISTIC",
        "INQUEST_SEED",       "INQUEST_NCCL_DEBUG",    "INQUEST_TIMEOUT_SECONDS", "INQUEST_ON_DIVERGENCE",
        "INQUEST_BOX_DIR"};
    return names;
}

Environment users_environment(const Environment& environment, const std::vector<Setting>& settings,
                              const std::string& hook_directory) {
    const Context outer = outer_context(environment, hook_directory);
    const auto injected = split(find(environment, "INQUEST_INJECTED").value_or(""), ',');
    const auto was_injected = [&](const auto& value) {
        return std::find(injected.begin(), injected.end(), value.first) != injected.end();
    };
    Environment users = environment;
    /* Backwards, as parts that were added one after the other come off. */
    for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
        bool is_injected = std::any_of(setting->values.begin(), setting->values.end(), was_injected);
        if (setting->how != How::kHook && is_injected && applies(setting->when, outer.parameters)) {
            take_out(*setting, outer, users);
        }
    }
    for (const std::string& name : own_names()) {
        users.erase(name);
    }
    return users;
}

}  // namespace inquest::launch
