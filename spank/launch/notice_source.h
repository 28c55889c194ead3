/* Looks below a report directory for one step's notice, as the user, following no symbolic link. */
#pragma once

#include <optional>
#include <string>

namespace inquest::launch {

inline constexpr size_t kNoticeMaxBytes = size_t{64} * 1024; /* more is cut */

class NoticeSource {
 public:
    NoticeSource(std::string report_directory, const std::string& step);

    /* The text of notice-<step>.txt; nothing while there is none, or when it is not a file of this user. */
    std::optional<std::string> read() const;

    /* Whether evidence of the step exists, that is whether a notice is to be expected. */
    bool is_expected() const;

 private:
    int open_report_directory() const;

    std::string report_directory_;
    std::string notice_name_;
    std::string step_;
};

}  // namespace inquest::launch
