#include "spank/launch/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace inquest::launch {
namespace {

tl::expected<std::string, std::string> read_open_file(int fd) {
    struct stat status = {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return tl::make_unexpected(std::string("not a regular file"));
    }
    std::string text(kConfigurationMaxBytes + 1, '\0');
    ssize_t bytes = pread(fd, text.data(), text.size(), 0);
    if (bytes < 0) {
        return tl::make_unexpected(std::string(std::strerror(errno)));
    }
    if (static_cast<size_t>(bytes) > kConfigurationMaxBytes) {
        return tl::make_unexpected(std::string("too large"));
    }
    text.resize(static_cast<size_t>(bytes));
    return text;
}

}  // namespace

tl::expected<std::string, std::string> read_small_file(const std::string& path) {
    int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return tl::make_unexpected(std::string(std::strerror(errno)));
    }
    auto text = read_open_file(fd);
    close(fd);
    return text;
}

}  // namespace inquest::launch
