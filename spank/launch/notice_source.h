/* Looks below a report directory for one step's notice, as the user, following no symbolic link. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace inquest::launch {

inline constexpr size_t kNoticeMaxBytes = size_t{64} * 1024; /* more is cut */

/* The notice as its file holds it. An empty text is an answer too: there is nothing to say. */
struct Notice {
    std::string text;
    int64_t written_ns = 0; /* time of the file's last change, wall clock of its file system */
};

class NoticeSource {
 public:
    NoticeSource(std::string report_directory, const std::string& step);

    /* notice-<step>.txt; nothing while there is none, or when it is not a file of this user. */
    std::optional<Notice> read() const;

    /* When the newest node evidence of the step was written, 0 while no node has completed its own; nothing
     * while there is no evidence of the step, that is while no notice is to be expected. */
    std::optional<int64_t> evidence_written_ns() const;

 private:
    int open_report_directory() const;
    int open_evidence() const;

    std::string report_directory_;
    std::string notice_name_;
    std::string step_;
};

}  // namespace inquest::launch
