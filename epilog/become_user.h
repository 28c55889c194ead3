/* The way from root to the job's user, without return. */
#pragma once

#include "epilog/child.h"

namespace inquest::epilog {

/* Only for a child process. False when any step fails; the process must then end. A caller without privilege
 * can only "become" itself, which is what tests do. The groups come from the passwd and group databases,
 * whose services may take long to answer: the caller's deadline bounds that. */
bool become_user(const UserIdentity& user);

}  // namespace inquest::epilog
