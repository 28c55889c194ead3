/* No child outlives the epilog: a child's child is in a session of its own and would escape the kill of the
 * group. */
#pragma once

#include <signal.h>
#include <sys/prctl.h>

namespace inquest::epilog {

inline void die_with_parent() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace inquest::epilog
