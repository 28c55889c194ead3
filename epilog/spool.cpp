#include "epilog/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <utility>

#include "spank/harvest/unique_fd.h"

namespace inquest::epilog {
namespace {

constexpr std::size_t kMaxEntryBytes = 2048;
constexpr std::size_t kMaxFilesLookedAt = 10'000;
constexpr auto kAttemptInterval = std::chrono::seconds(60);
constexpr const char* kAttemptFile = ".last-attempt";
constexpr const char* kUnfinishedPrefix = ".new-";

constexpr const char* kLastTriedFile = ".last-tried";

struct SpoolFile {
    std::string name;
    std::time_t written;
};

std::string file_name(const RecordEntry& entry) {
    return fmt::format("{}.{}.{}", entry.cluster, entry.job_id, entry.run_wall_s);
}

bool write_all(int fd, const std::string& text) {
    return write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
}

bool write_file(int directory_fd, const std::string& name, const std::string& text) {
    const std::string unfinished = kUnfinishedPrefix + name;
    const harvest::UniqueFd file(openat(directory_fd, unfinished.c_str(),
                                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid() || !write_all(file.get(), text)) return false;
    return renameat(directory_fd, unfinished.c_str(), directory_fd, name.c_str()) == 0 &&
           fsync(directory_fd) == 0;
}

std::string read_text(int directory_fd, const std::string& name) {
    const harvest::UniqueFd file(
        openat(directory_fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    char buffer[kMaxEntryBytes];
    const ssize_t got = file.valid() ? read(file.get(), buffer, sizeof buffer) : -1;
    return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
}

std::vector<SpoolFile> list_files(int directory_fd) {
    std::vector<SpoolFile> files;
    const int copy = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy >= 0 ? fdopendir(copy) : nullptr, closedir);
    while (stream && files.size() < kMaxFilesLookedAt) {
        const dirent* found = readdir(stream.get());
        if (found == nullptr) break;
        struct stat status {};
        if (found->d_name[0] == '.') continue;
        if (fstatat(directory_fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISREG(status.st_mode)) files.push_back({found->d_name, status.st_mtime});
    }
    return files;
}

/* By name, beginning behind the one that was tried last. */
void sort_after(const std::string& last_tried, std::vector<SpoolFile>& files) {
    const auto key = [&](const SpoolFile& file) { return std::pair(file.name <= last_tried, file.name); };
    std::sort(files.begin(), files.end(),
              [&](const SpoolFile& left, const SpoolFile& right) { return key(left) < key(right); });
}

bool is_too_old(const SpoolFile& file) {
    return std::chrono::seconds(std::time(nullptr) - file.written) > kMaxSpoolAge;
}

}  // namespace

int Spool::open_directory() const {
    if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return -1;
    harvest::UniqueFd directory(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!directory.valid() || fstat(directory.get(), &status) != 0) return -1;
    if (status.st_uid == geteuid() && (status.st_mode & 0022) == 0) return directory.release();
    errno = EPERM;
    return -1;
}

bool Spool::put(const RecordEntry& entry) const {
    const std::string text = format_entry(entry);
    errno = EINVAL;
    const harvest::UniqueFd directory(text.empty() ? -1 : open_directory());
    if (!directory.valid()) return false;
    return write_file(directory.get(), file_name(entry), text);
}

bool Spool::remove(const RecordEntry& entry) const {
    const harvest::UniqueFd directory(open_directory());
    return directory.valid() &&
           (unlinkat(directory.get(), file_name(entry).c_str(), 0) == 0 || errno == ENOENT);
}

std::vector<RecordEntry> Spool::next(std::size_t limit, std::size_t& given_up) const {
    std::vector<RecordEntry> entries;
    const harvest::UniqueFd directory(open_directory());
    if (!directory.valid()) return entries;
    std::vector<SpoolFile> files = list_files(directory.get());
    sort_after(read_text(directory.get(), kLastTriedFile), files);
    for (const SpoolFile& file : files) {
        if (entries.size() >= limit) break;
        RecordEntry entry;
        const bool valid = parse_entry(read_text(directory.get(), file.name), entry);
        if (valid && file_name(entry) == file.name && !is_too_old(file)) {
            entries.push_back(std::move(entry));
        } else if (unlinkat(directory.get(), file.name.c_str(), 0) == 0) {
            given_up++;
        }
    }
    return entries;
}

bool Spool::continue_after(const RecordEntry& entry) const {
    const harvest::UniqueFd directory(open_directory());
    return directory.valid() && write_file(directory.get(), kLastTriedFile, file_name(entry));
}

bool Spool::begin_attempt() const {
    const harvest::UniqueFd directory(open_directory());
    if (!directory.valid() || list_files(directory.get()).empty()) return false;
    struct stat status {};
    if (fstatat(directory.get(), kAttemptFile, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        const auto age = std::chrono::seconds(std::time(nullptr) - status.st_mtime);
        if (age >= std::chrono::seconds(0) && age < kAttemptInterval) return false;
    }
    const harvest::UniqueFd stamp(
        openat(directory.get(), kAttemptFile, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    return stamp.valid() && futimens(stamp.get(), nullptr) == 0;
}

}  // namespace inquest::epilog
