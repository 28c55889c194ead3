/* What root does when a job has ended: the order of the parts, and how much time each of them gets. */
#pragma once

#include <string>
#include <vector>

#include "epilog/job.h"
#include "epilog/record_line.h"
#include "epilog/spool.h"

namespace inquest::epilog {

struct JobEndPaths {
    std::string run_directory; /* INQUEST_RUN_DIRECTORY */
    std::string daemon_socket;
    std::string spool;
    std::string analyzer;
    std::string knowledge; /* <knowledge>/<family>/<cause>.yaml: the causes that a record line may name */
};

/* What a record line of the job may say; refers to the paths. */
RecordContext record_context(const JobEndPaths& paths, std::vector<std::string> nodes,
                             std::string report_directory);

/* Harvest, analysis and record line of one job on this node, at most until the deadline. Reports problems to
 * syslog. Removes nothing under the run directory (cleanup.h). */
void end_job(const JobEndPaths& paths, const Job& job, RecordField field, Deadline deadline);

/* Sends up to a bounded number of lines that wait in the spool, those that were not tried lately first,
 * and stops when slurmdbd does not answer. Returns how many of them stay there. */
std::size_t flush_spool(const Spool& spool, Deadline deadline);

}  // namespace inquest::epilog
