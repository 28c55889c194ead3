/* Owner of one file descriptor. Not thread safe. */
#ifndef INQUEST_SPANK_HARVEST_UNIQUE_FD_H
#define INQUEST_SPANK_HARVEST_UNIQUE_FD_H

#include <unistd.h>

#include <utility>

namespace inquest::harvest {

class UniqueFd {
 public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(-1); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd) {
        if (fd_ >= 0) close(fd_);
        fd_ = fd;
    }

 private:
    int fd_ = -1;
};

}  // namespace inquest::harvest

#endif
