/* On the node that writes the record: analysis of the step that decides, and removal of what a healthy job
 * left. Runs as the user in a child; the result goes to root through a pipe. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "epilog/deadline.h"
#include "epilog/diagnosis_fields.h"
#include "epilog/journals.h"

namespace inquest::epilog {

/* Crosses the pipe; hostile when root reads it. */
struct ReportResult {
    std::uint32_t magic;      /* kReportMagic */
    std::uint32_t has_line;   /* 1: `step` has a diagnosis that belongs into the record */
    std::uint32_t step;       /* index into the steps that were given */
    std::uint32_t takes_back; /* 1: no line, but while the job ran there may have been one */
    DiagnosisFields fields;
};
inline constexpr std::uint32_t kReportMagic = 0x52515149; /* "IQQR" */

struct ReportRequest {
    const std::vector<JobStep>& steps;
    bool failed_elsewhere;
    std::string analyzer; /* path of the program `inquest` */
    Deadline deadline;
};

ReportResult report_job(const ReportRequest& request);

/* Root's side: true when the bytes are a result that has a line about one of `step_count` steps. What are no
 * bytes of a result leave it as it is. */
bool read_report_result(const std::string& bytes, std::size_t step_count, ReportResult& result);

}  // namespace inquest::epilog
