/* The record line: the one line about a job that goes into Slurm's accounting (docs/formats/record_line.md).
 *
 * Pure: no file, no clock, no Slurm. Root calls it with fields that a process of the user may have written;
 * the result holds only ids that the installed knowledge has, numbers, node names of the job, and a file name
 * and a path of harmless characters. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/diagnosis_fields.h"

namespace inquest::epilog {

inline constexpr std::size_t kMaxRecordLineBytes = 1000;
inline constexpr std::string_view kRecordLinePrefix = "inquest 1: ";
inline constexpr std::string_view kCauseHealthy = "healthy";
inline constexpr std::string_view kCauseUnknown = "unknown";

struct RecordContext {
    std::vector<std::string> nodes; /* the names that the line may hold */
    std::string report_directory;   /* absolute; left out when it has other than harmless characters */
    /* Whether the installed knowledge has family/cause; of kCauseUnknown, the family. Called only with valid
     * ids. */
    std::function<bool(std::string_view family, std::string_view cause)> is_known;
};

/* The line, at most kMaxRecordLineBytes of printable ASCII without '"|\ ; nothing when the fields name no
 * known cause or a healthy step. */
std::optional<std::string> render_record_line(const DiagnosisFields& fields, const RecordContext& context);

/* "inquest-4711" of a line that ends in "; report /home/ada/inquest-4711"; empty when it names no report. */
std::string_view named_report(std::string_view line);

/* An id of the catalogue by its form: lower-case letters, digits and single dashes, at most 48 characters. */
bool is_valid_id(std::string_view text);

}  // namespace inquest::epilog
