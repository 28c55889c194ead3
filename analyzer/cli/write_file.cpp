#include "analyzer/cli/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace inquest::cli {
namespace {

class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

 private:
    int number_;
};

bool write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

tl::unexpected<std::string> failure(const std::string& what) {
    return tl::unexpected(fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

}  // namespace

tl::expected<void, std::string> write_file(const std::string& directory, const std::string& name,
                                           std::string_view content) {
    const Descriptor folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return failure(directory);
    const std::string temporary = fmt::format(".{}.{}", name, getpid());
    const Descriptor file(openat(folder.get(), temporary.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.get() < 0) return failure(directory + "/" + name);
    const bool complete = write_all(file.get(), content) && fsync(file.get()) == 0;
    if (!complete || renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
        auto error = failure(directory + "/" + name);
        unlinkat(folder.get(), temporary.c_str(), 0);
        return error;
    }
    return {};
}

}  // namespace inquest::cli
