#include "analyzer/evidence/file_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace inquest::evidence {

namespace {

std::string error_text(int error) {
    return std::generic_category().message(error);
}

std::string open_error_text(int error) {
    return error == ELOOP ? "is a symbolic link" : "cannot be opened: " + error_text(error);
}

tl::expected<size_t, std::string> read_descriptor(int fd, char* buffer, size_t size) {
    while (true) {
        const ssize_t got = read(fd, buffer, size);
        if (got >= 0) return static_cast<size_t>(got);
        if (errno == EAGAIN) {
            pollfd waiting{fd, POLLIN, 0};
            poll(&waiting, 1, -1);
        } else if (errno != EINTR) {
            return tl::unexpected("cannot be read: " + error_text(errno));
        }
    }
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
}

int FileDescriptor::release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
}

tl::expected<FileSource, std::string> FileSource::open_at(int directory_fd, const std::string& name) {
    FileDescriptor fd(openat(directory_fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) return tl::unexpected(open_error_text(errno));
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) return tl::unexpected(open_error_text(errno));
    if (!S_ISREG(status.st_mode)) return tl::unexpected<std::string>("is not a regular file");
    FileSource source(std::move(fd), static_cast<uint64_t>(status.st_size));
    if (auto filled = source.fill_prefix(); !filled) return tl::unexpected(filled.error());
    return source;
}

FileSource FileSource::standard_input() {
    FileSource source(FileDescriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)), 0);
    if (auto filled = source.fill_prefix(); !filled) source.prefix_error_ = filled.error();
    return source;
}

tl::expected<void, std::string> FileSource::fill_prefix() {
    prefix_.resize(kPrefixBytes);
    size_t filled = 0;
    while (filled < kPrefixBytes) {
        auto got = read_descriptor(descriptor_.get(), prefix_.data() + filled, kPrefixBytes - filled);
        if (!got) return tl::unexpected(got.error());
        if (*got == 0) break;
        filled += *got;
    }
    prefix_.resize(filled);
    return {};
}

tl::expected<size_t, std::string> FileSource::read_some(char* buffer, size_t size) {
    if (!prefix_error_.empty()) return tl::unexpected(prefix_error_);
    if (prefix_taken_ == prefix_.size()) return read_descriptor(descriptor_.get(), buffer, size);
    const size_t count = std::min(size, prefix_.size() - prefix_taken_);
    memcpy(buffer, prefix_.data() + prefix_taken_, count);
    prefix_taken_ += count;
    return count;
}

tl::expected<Bytes, std::string> FileSource::read_all(uint64_t limit_bytes) {
    Bytes bytes;
    size_t filled = 0;
    while (filled <= limit_bytes) {
        // One byte beyond the expected size shows the end without a second, larger buffer.
        const uint64_t wanted = std::max<uint64_t>(size_bytes_ + 1, filled + kPrefixBytes);
        bytes.data.resize(std::min<uint64_t>(wanted, limit_bytes + 1));
        auto got = read_some(bytes.data.data() + filled, bytes.data.size() - filled);
        if (!got) return tl::unexpected(got.error());
        if (*got == 0) break;
        filled += *got;
    }
    bytes.cut = filled > limit_bytes;
    bytes.data.resize(std::min<uint64_t>(filled, limit_bytes));
    return bytes;
}

}  // namespace inquest::evidence
