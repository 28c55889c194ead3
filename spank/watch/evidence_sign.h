/* The sign by which the workers of a step's nodes tell each other that evidence is wanted.
 *
 * It is the directory evidence/<step> on the shared file system: that it exists, and its modification time,
 * which a worker sets anew for each later event. Times are the file server's, so that no clocks of nodes are
 * compared. */
#ifndef INQUEST_SPANK_WATCH_EVIDENCE_SIGN_H
#define INQUEST_SPANK_WATCH_EVIDENCE_SIGN_H

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "spank/harvest/step_description.h"

namespace inquest::watch {

/* Modification time of evidence/<step> in ns; nothing when it does not exist. */
std::optional<int64_t> read_sign(const harvest::StepDescription& step);

/* Makes the directory, or sets its modification time to now. */
tl::expected<void, std::string> give_sign(const harvest::StepDescription& step);

}  // namespace inquest::watch

#endif
