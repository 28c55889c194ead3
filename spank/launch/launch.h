/* The program inquest-launch. */
#pragma once

#include "spank/launch/exit_status.h"

namespace inquest::launch {

/* Reads arguments, configuration and environment, decides, and writes the records to standard output. Silent
 * on standard error unless INQUEST_LAUNCH_DEBUG is set: then it says there what was set and why. */
ExitStatus run_launch(int argument_count, const char* const* arguments, const char* const* environment);

}  // namespace inquest::launch
