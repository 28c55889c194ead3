#include "spank/launch/site_keys.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "spank/launch/environment.h"

namespace inquest::launch {
namespace {

constexpr uint32_t kMillion = 1000000;
constexpr uint32_t kSeedMax = std::numeric_limits<uint32_t>::max();

/* Decimal digits only: YAML's octal, hexadecimal and floating forms would be read otherwise by a person. */
std::optional<uint32_t> number_from(const YAML::Node& node, uint32_t least, uint32_t most) {
    if (!node.IsScalar()) {
        return std::nullopt;
    }
    const std::string& text = node.Scalar();
    uint32_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
        return std::nullopt;
    }
    return number;
}

template <size_t kCount>
std::optional<std::string> word_from(const YAML::Node& node,
                                     const std::array<std::string_view, kCount>& known) {
    if (!node.IsScalar() || std::find(known.begin(), known.end(), node.Scalar()) == known.end()) {
        return std::nullopt;
    }
    return node.Scalar();
}

/* Stores what was understood. */
template <typename Field, typename Value>
bool store(Field& field, const std::optional<Value>& value) {
    if (value) {
        field = *value;
    }
    return value.has_value();
}

/* The same for what may also be null, which takes an earlier file's value away. */
template <typename Value>
bool store_or_clear(const YAML::Node& node, std::optional<Value>& field, const std::optional<Value>& value) {
    if (node.IsNull()) {
        field.reset();
        return true;
    }
    return store(field, value);
}

bool read_stall(const YAML::Node& node, SiteConfiguration& site) {
    return store(site.stall_seconds, number_from(node, kStallMinSeconds, kStallMaxSeconds));
}

bool read_profile(const YAML::Node& node, SiteConfiguration& site) {
    return store(site.profile, word_from(node, kProfiles));
}

bool read_deterministic(const YAML::Node& node, SiteConfiguration& site) {
    return store(site.deterministic, word_from(node, kDeterministicModes));
}

bool read_seed(const YAML::Node& node, SiteConfiguration& site) {
    return store_or_clear(node, site.seed, number_from(node, 0, kSeedMax));
}

bool read_nccl_debug(const YAML::Node& node, SiteConfiguration& site) {
    return store_or_clear(node, site.nccl_debug, word_from(node, kNcclDebugLevels));
}

bool read_timeout(const YAML::Node& node, SiteConfiguration& site) {
    return store_or_clear(node, site.timeout_seconds,
                          number_from(node, kTimeoutMinSeconds, kTimeoutMaxSeconds));
}

bool read_on_divergence(const YAML::Node& node, SiteConfiguration& site) {
    return store(site.on_divergence, word_from(node, kDivergenceActions));
}

bool read_digest_share(const YAML::Node& node, SiteConfiguration& site) {
    if (!node.IsMap()) {
        return false;
    }
    auto shares = site.digest_share_ppm;
    for (const auto& entry : node) {
        auto profile = word_from(entry.first, kProfiles);
        if (!profile || !store(shares[*profile], number_from(entry.second, 0, kMillion))) {
            return false;
        }
    }
    site.digest_share_ppm = shares;
    return true;
}

bool read_never_set(const YAML::Node& node, SiteConfiguration& site) {
    if (!node.IsSequence()) {
        return false;
    }
    std::vector<std::string> names;
    for (const YAML::Node& item : node) {
        if (!item.IsScalar() || !is_variable_name(item.Scalar())) {
            return false;
        }
        names.push_back(item.Scalar());
    }
    site.never_set = names;
    return true;
}

constexpr std::array<SiteKey, 9> kKeys = {{
    {"stall_seconds", "a whole number of seconds from 1 to 86400", read_stall},
    {"profile", "light, standard or deep", read_profile},
    {"deterministic", "off, warn or strict", read_deterministic},
    {"seed", "a whole number from 0 to 4294967295, or null", read_seed},
    {"nccl_debug", "VERSION, WARN, INFO, TRACE or null", read_nccl_debug},
    {"timeout_seconds", "a whole number of seconds from 1 to 604800, or null", read_timeout},
    {"on_divergence", "report or cancel", read_on_divergence},
    {"digest_share_ppm", "a mapping from light, standard or deep to whole numbers from 0 to 1000000",
     read_digest_share},
    {"never_set", "a list of variable names", read_never_set},
}};

}  // namespace

const SiteKey* find_site_key(const std::string& name) {
    const auto* found =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const SiteKey& key) { return name == key.name; });
    return found == kKeys.end() ? nullptr : found;
}

std::string site_key_names() {
    std::string names;
    for (const SiteKey& key : kKeys) {
        names += (names.empty() ? "" : ", ") + std::string(key.name);
    }
    return names;
}

}  // namespace inquest::launch
