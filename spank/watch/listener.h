/* The socket on which inquestd takes step messages, and the check of who may send them. */
#ifndef INQUEST_SPANK_WATCH_LISTENER_H
#define INQUEST_SPANK_WATCH_LISTENER_H

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>

#include "spank/harvest/unique_fd.h"

namespace inquest::watch {

/* Makes the run directory (0755) if it is missing, checks that it is the owner's alone, and listens on `name`
 * in it: SOCK_SEQPACKET, mode 0600, not blocking. A socket that a dead daemon left is replaced; a living
 * daemon's is an error. */
tl::expected<harvest::UniqueFd, std::string> listen_in(const std::string& run_directory,
                                                       const std::string& name, uid_t owner);

/* The next connection whose peer is `trusted_uid` (SO_PEERCRED); others are closed. Invalid when there is
 * none. */
harvest::UniqueFd accept_trusted(int listener_fd, uid_t trusted_uid);

}  // namespace inquest::watch

#endif
