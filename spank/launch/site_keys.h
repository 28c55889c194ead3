/* The keys of the site's configuration. */
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "spank/launch/site_configuration.h"

namespace inquest::launch {

struct SiteKey {
    const char* name;
    const char* expected; /* ends the sentence "write ..." */
    /* Returns false and leaves the configuration as it is when the value is impossible. */
    bool (*read)(const YAML::Node& value, SiteConfiguration& site);
};

/* nullptr when there is no such key. */
const SiteKey* find_site_key(const std::string& name);

/* Names of all keys, comma separated. */
std::string site_key_names();

}  // namespace inquest::launch
