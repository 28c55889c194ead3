// One input: a regular file or standard input, read once from front to back. Nothing else is ever opened: no
// link is followed, no device or pipe blocks.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace inquest::evidence {

// Owns a file descriptor.
class FileDescriptor {
 public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor();
    int get() const { return fd_; }
    int release();

 private:
    int fd_ = -1;
};

struct Bytes {
    std::string data;
    bool cut = false;  // there was more than the limit
};

class FileSource {
 public:
    static constexpr size_t kPrefixBytes = size_t{64} * 1024;

    // `directory_fd` as for openat(2). The error is a phrase for a person: "is a symbolic link".
    static tl::expected<FileSource, std::string> open_at(int directory_fd, const std::string& name);
    static FileSource standard_input();

    // The first bytes, at most kPrefixBytes; still part of what read_some and read_all give.
    std::string_view prefix() const { return prefix_; }

    // The next bytes into `buffer`; 0 at the end. The error is strerror's text.
    tl::expected<size_t, std::string> read_some(char* buffer, size_t size);
    tl::expected<Bytes, std::string> read_all(uint64_t limit_bytes);

 private:
    explicit FileSource(FileDescriptor descriptor, uint64_t size_bytes)
        : descriptor_(std::move(descriptor)), size_bytes_(size_bytes) {}
    tl::expected<void, std::string> fill_prefix();

    FileDescriptor descriptor_;
    uint64_t size_bytes_ = 0;  // as fstat told; 0 for standard input
    std::string prefix_;
    size_t prefix_taken_ = 0;
    std::string prefix_error_;
};

}  // namespace inquest::evidence
