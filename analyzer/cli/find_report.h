// Finds the report directory of a job.
#pragma once
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace inquest::cli {

// A job as squeue and sacct print it: digits, and '_' in an array.
bool is_job_number(const std::string& text);

// Looks for inquest-JOB, or that of the newest run of a requeued job, in `directory` (empty: the current
// one), then in the working directory that Slurm's accounting knows for the job, and in the path that the job
// record names. The error is a sentence that says where it looked.
tl::expected<std::string, std::string> find_report_directory(const std::string& job,
                                                             const std::string& directory);

}  // namespace inquest::cli
