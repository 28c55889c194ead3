/* The site's configuration, /etc/inquest/inquest.yaml and the drop-ins beside it (inquest.yaml(5)). Read by
 * inquest-launch only. */
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spank/launch/parameters.h"

namespace inquest::launch {

struct SiteConfiguration {
    uint32_t stall_seconds = 120;
    std::string profile = "standard";
    std::string deterministic = "off";
    std::optional<uint32_t> seed;
    std::optional<std::string> nccl_debug;
    std::optional<uint32_t> timeout_seconds;
    std::string on_divergence = "report";
    /* Share of the run time that digests may cost, in parts per million, by profile; 0 means no digests. */
    std::map<std::string, uint32_t> digest_share_ppm = {{"light", 200}, {"standard", 1000}, {"deep", 50000}};
    std::vector<std::string> never_set; /* names that are set for no job at this site */
};

/* Something in a file that has no effect as it stands. */
struct Finding {
    std::string file;
    int line = 0; /* from 1; 0: the whole file */
    std::string message;
};

/* FILE:LINE: MESSAGE, fit for a terminal. */
std::string to_text(const Finding& finding);

struct SiteReading {
    SiteConfiguration site;
    std::vector<Finding> findings; /* in the order of files and lines */
};

/* Applies one file's text. A key that is unknown or impossible changes nothing and becomes a finding, the
 * others count; a text that is no YAML changes nothing. Never throws. */
void apply_site_file(const std::string& file, const std::string& text, SiteReading& reading);

/* Reads `path` and then every drop-in *.yaml in `path`.d in the order of names; a later value replaces an
 * earlier one. A file or directory that is not there is no finding. */
SiteReading read_site_configuration(const std::string& path);

}  // namespace inquest::launch
