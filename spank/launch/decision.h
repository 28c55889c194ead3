/* What to set in a step's environment: a pure function of what the user asked for, the site's configuration,
 * the settings and the user's own environment. All variables or none. The user's own variable wins, then the
 * user's option, then the site. */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spank/launch/environment.h"
#include "spank/launch/settings.h"
#include "spank/launch/site_configuration.h"

namespace inquest::launch {

inline constexpr size_t kReportPathMaxBytes = 3500; /* leaves room for evidence/... below PATH_MAX */

struct Request {
    uint32_t job_id = 0;
    std::string step; /* "0", "batch", ... */
    bool off = false; /* only take away what an enclosing armed step had set */
    /* As given by the user. */
    std::optional<uint32_t> stall_seconds;
    std::optional<std::string> directory; /* may be relative */
    std::optional<std::string> profile;
    std::optional<std::string> deterministic;
    std::optional<uint32_t> seed;
    std::optional<std::string> nccl_debug;
    std::optional<uint32_t> timeout_seconds;
    std::optional<std::string> on_divergence;
    std::string working_directory; /* "" when it cannot be read */
};

/* Where the installed parts are that ranks load. */
struct Installation {
    std::string library;
    std::string python_directory;
};

/* One change of the step's environment. */
struct Assignment {
    std::string name;
    std::string value;
    std::string reason;
};

struct Decision {
    std::vector<Assignment> assignments; /* in the order of output; INQUEST_ARMED is the last */
    std::optional<std::string> disarmed; /* why the step is not armed; then `assignments` only tidies up */
};

struct DecisionInputs {
    Request request;
    SiteConfiguration site;
    std::vector<Setting> settings;
    Installation installation;
    Environment environment;
    std::function<bool(const std::string& path)> is_taken = [](const std::string&) { return false; };
};

/* What the user asked for, and the site's where the user did not. */
Parameters parameters_of(const Request& request, const SiteConfiguration& site);

Decision decide(const DecisionInputs& inputs);

}  // namespace inquest::launch
