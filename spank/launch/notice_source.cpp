#include "spank/launch/notice_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace inquest::launch {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::optional<std::string> read_own_file(int fd) {
    struct stat status = {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        return std::nullopt;
    }
    std::string text(kNoticeMaxBytes, '\0');
    ssize_t bytes = pread(fd, text.data(), text.size(), 0);
    if (bytes <= 0) {
        return std::nullopt;
    }
    text.resize(static_cast<size_t>(bytes));
    return text;
}

bool has_directory(int parent_fd, const std::string& name) {
    struct stat status = {};
    return fstatat(parent_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

NoticeSource::NoticeSource(std::string report_directory, const std::string& step)
    : report_directory_(std::move(report_directory)), notice_name_("notice-" + step + ".txt"), step_(step) {}

/* Opens the parent first: NFS checks a directory's attributes when it is opened, and with them forgets that a
 * name was absent a moment ago. */
int NoticeSource::open_report_directory() const {
    std::filesystem::path path(report_directory_);
    int parent_fd = open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent_fd < 0) {
        return -1;
    }
    int fd = openat(parent_fd, path.filename().c_str(), kDirectoryFlags);
    close(parent_fd);
    return fd;
}

std::optional<std::string> NoticeSource::read() const {
    int directory_fd = open_report_directory();
    if (directory_fd < 0) {
        return std::nullopt;
    }
    int fd = openat(directory_fd, notice_name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(directory_fd);
    if (fd < 0) {
        return std::nullopt;
    }
    auto text = read_own_file(fd);
    close(fd);
    return text;
}

bool NoticeSource::is_expected() const {
    int directory_fd = open_report_directory();
    if (directory_fd < 0) {
        return false;
    }
    int evidence_fd = openat(directory_fd, "evidence", kDirectoryFlags);
    close(directory_fd);
    if (evidence_fd < 0) {
        return false;
    }
    bool expected = has_directory(evidence_fd, step_);
    close(evidence_fd);
    return expected;
}

}  // namespace inquest::launch
