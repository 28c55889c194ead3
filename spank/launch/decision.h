/* What to set in a step's environment: a pure function of what the user asked for, the site's configuration
 * and the user's own environment. All variables or none; what the user has set always wins. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spank/launch/environment.h"
#include "spank/launch/profile.h"
#include "spank/launch/site_configuration.h"

namespace inquest::launch {

inline constexpr size_t kReportPathMaxBytes = 3500; /* leaves room for evidence/... below PATH_MAX */

struct Request {
    uint32_t job_id = 0;
    std::string step;                      /* "0", "batch", ... */
    std::optional<uint32_t> stall_seconds; /* as given by the user */
    std::optional<std::string> directory;  /* as given by the user, may be relative */
    std::string working_directory;         /* "" when it cannot be read */
};

/* Where the installed parts are that ranks load. */
struct Installation {
    std::string library;
    std::string python_directory;
};

struct Setting {
    std::string name;
    std::string value;
    std::string reason;
};

struct Decision {
    std::vector<Setting> settings;       /* in the order of output; INQUEST_ARMED is the last */
    std::optional<std::string> disarmed; /* why nothing is set */
};

struct DecisionInputs {
    Request request;
    SiteConfiguration site;
    Profile profile;
    Installation installation;
    Environment environment;
};

Decision decide(const DecisionInputs& inputs);

}  // namespace inquest::launch
