#include "spank/launch/notice_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace inquest::launch {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

constexpr int64_t kNsPerSecond = 1000000000;

int64_t written_ns(const struct stat& status) {
    return int64_t{status.st_mtim.tv_sec} * kNsPerSecond + status.st_mtim.tv_nsec;
}

std::optional<Notice> read_own_file(int fd) {
    struct stat status = {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        return std::nullopt;
    }
    Notice notice{std::string(kNoticeMaxBytes, '\0'), written_ns(status)};
    ssize_t bytes = pread(fd, notice.text.data(), notice.text.size(), 0);
    if (bytes < 0) {
        return std::nullopt;
    }
    notice.text.resize(static_cast<size_t>(bytes));
    return notice;
}

/* node.json is written last by each node (docs/formats/evidence.md). */
int64_t node_written_ns(int evidence_fd, const std::string& node) {
    struct stat status = {};
    std::string name = node + "/node.json";
    return fstatat(evidence_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? written_ns(status) : 0;
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

std::optional<Notice> NoticeSource::read() const {
    int directory_fd = open_report_directory();
    if (directory_fd < 0) {
        return std::nullopt;
    }
    int fd = openat(directory_fd, notice_name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(directory_fd);
    if (fd < 0) {
        return std::nullopt;
    }
    auto notice = read_own_file(fd);
    close(fd);
    return notice;
}

int NoticeSource::open_evidence() const {
    int directory_fd = open_report_directory();
    if (directory_fd < 0) {
        return -1;
    }
    int all_fd = openat(directory_fd, "evidence", kDirectoryFlags);
    close(directory_fd);
    if (all_fd < 0) {
        return -1;
    }
    int step_fd = openat(all_fd, step_.c_str(), kDirectoryFlags);
    close(all_fd);
    return step_fd;
}

std::optional<int64_t> NoticeSource::evidence_written_ns() const {
    int fd = open_evidence();
    if (fd < 0) {
        return std::nullopt;
    }
    std::unique_ptr<DIR, int (*)(DIR*)> nodes(fdopendir(fd), closedir);
    if (!nodes) {
        close(fd);
        return std::nullopt;
    }
    int64_t newest_ns = 0;
    while (const dirent* entry = readdir(nodes.get())) {
        newest_ns = std::max(newest_ns, node_written_ns(fd, entry->d_name));
    }
    return newest_ns;
}

}  // namespace inquest::launch
