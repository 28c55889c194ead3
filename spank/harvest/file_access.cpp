#include "spank/harvest/file_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace inquest::harvest {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr int kReadFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr int kWriteFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr size_t kProcFileBytes = 16384;

tl::unexpected<std::string> failed(const char* what) {
    return tl::make_unexpected(fmt::format("{}: {}", what, errno_text()));
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

/* close() is where a network file system reports a full quota. */
bool write_and_close(UniqueFd file, std::string_view bytes) {
    const bool written = write_all(file.get(), bytes);
    return close(file.release()) == 0 && written;
}

std::string temporary_name(const std::string& name) {
    return fmt::format(".{}.{}", name, getpid());
}

ssize_t pread_retrying(int fd, char* into, size_t bytes, off_t offset) {
    ssize_t count = -1;
    do {
        count = pread(fd, into, bytes, offset);
    } while (count < 0 && errno == EINTR);
    return count;
}

}  // namespace

std::string errno_text() {
    return std::generic_category().message(errno);
}

UniqueFd open_directory(const std::string& path) {
    return UniqueFd(open(path.c_str(), kDirectoryFlags));
}

UniqueFd open_directory_at(int parent_fd, const std::string& name) {
    return UniqueFd(openat(parent_fd, name.c_str(), kDirectoryFlags));
}

tl::expected<UniqueFd, std::string> make_directory_at(int parent_fd, const std::string& name) {
    if (mkdirat(parent_fd, name.c_str(), 0700) != 0 && errno != EEXIST) return failed("mkdir");
    UniqueFd directory = open_directory_at(parent_fd, name);
    if (!directory.valid()) return failed("open");
    struct stat status {};
    if (fstat(directory.get(), &status) != 0) return failed("stat");
    if (status.st_uid != geteuid()) return tl::make_unexpected("belongs to another user");
    return directory;
}

UniqueFd open_regular_file(int directory_fd, const std::string& name) {
    UniqueFd file(openat(directory_fd, name.c_str(), kReadFlags));
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return {};
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return {};
    }
    return file;
}

tl::expected<FileBytes, std::string> read_open_file(int fd, size_t limit, KeptEnd kept) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return failed("stat");
    const auto size_bytes = static_cast<size_t>(std::max<off_t>(status.st_size, 0));
    FileBytes result{std::string(std::min(size_bytes, limit), '\0'), size_bytes > limit};
    const size_t start = kept == KeptEnd::tail ? size_bytes - result.bytes.size() : 0;
    size_t filled = 0;
    while (filled < result.bytes.size()) {
        const ssize_t count = pread_retrying(fd, result.bytes.data() + filled, result.bytes.size() - filled,
                                             static_cast<off_t>(start + filled));
        if (count < 0) return failed("read");
        if (count == 0) break;
        filled += static_cast<size_t>(count);
    }
    result.bytes.resize(filled);
    return result;
}

tl::expected<FileBytes, std::string> read_regular_file(int directory_fd, const std::string& name,
                                                       size_t limit, KeptEnd kept) {
    const UniqueFd file = open_regular_file(directory_fd, name);
    if (!file.valid()) return failed("open");
    return read_open_file(file.get(), limit, kept);
}

tl::expected<void, std::string> write_file_atomically(int directory_fd, const std::string& name,
                                                      std::string_view bytes) {
    const std::string temporary = temporary_name(name);
    unlinkat(directory_fd, temporary.c_str(), 0);
    UniqueFd file(openat(directory_fd, temporary.c_str(), kWriteFlags, 0600));
    if (!file.valid()) return failed("create");
    if (!write_and_close(std::move(file), bytes)) {
        auto error = failed("write");
        unlinkat(directory_fd, temporary.c_str(), 0);
        return error;
    }
    if (renameat(directory_fd, temporary.c_str(), directory_fd, name.c_str()) != 0) return failed("rename");
    return {};
}

std::vector<std::string> list_directory(int directory_fd, size_t limit) {
    std::vector<std::string> names;
    const int own_fd = openat(directory_fd, ".", kDirectoryFlags);
    DIR* directory = own_fd < 0 ? nullptr : fdopendir(own_fd);
    if (directory == nullptr) {
        if (own_fd >= 0) close(own_fd);
        return names;
    }
    while (const dirent* entry = readdir(directory)) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == limit) break;
        names.emplace_back(name);
    }
    closedir(directory);
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_proc_file(const std::string& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string bytes(kProcFileBytes, '\0');
    const ssize_t count = file.valid() ? pread_retrying(file.get(), bytes.data(), bytes.size(), 0) : 0;
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
}

}  // namespace inquest::harvest
