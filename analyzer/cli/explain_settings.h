// What Inquest sets in the environment of jobs: `inquest explain settings [JOB]`.
#pragma once
#include <string>

#include "analyzer/cli/exit_status.h"

namespace inquest::cli {

// Prints every setting; with a job, also what became of it in each of the job's steps that left evidence. The
// settings are inquest-launch's data, so `launch_path` (empty: the installed one) is run to print them.
ExitStatus explain_settings(const std::string& job, const std::string& directory,
                            const std::string& launch_path);

}  // namespace inquest::cli
