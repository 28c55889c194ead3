#include "spank/watch/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "spank/harvest/file_access.h"

namespace inquest::watch {
namespace {

using harvest::UniqueFd;

constexpr int kBacklog = 512; /* a node may start or end many steps at the same moment */

tl::unexpected<std::string> failed(const std::string& what) {
    return tl::make_unexpected(fmt::format("{}: {}", what, harvest::errno_text()));
}

tl::expected<void, std::string> check_run_directory(const std::string& path, uid_t owner) {
    if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return failed(path);
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return failed(path);
    const bool is_ours = S_ISDIR(status.st_mode) && status.st_uid == owner && (status.st_mode & 022U) == 0;
    if (!is_ours) return tl::make_unexpected(path + ": is not a directory that only its owner may write");
    return {};
}

UniqueFd make_socket() {
    return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool is_answered(const sockaddr_un& address) {
    const UniqueFd probe = make_socket();
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return connect(probe.get(), generic, sizeof address) == 0 || errno == EAGAIN;
}

bool bind_privately(int fd, const sockaddr_un& address) {
    const mode_t old_mask = umask(0177);
    const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    umask(old_mask);
    return bound;
}

}  // namespace

tl::expected<UniqueFd, std::string> listen_in(const std::string& run_directory, const std::string& name,
                                              uid_t owner) {
    if (auto checked = check_run_directory(run_directory, owner); !checked)
        return tl::make_unexpected(checked.error());
    const std::string path = run_directory + '/' + name;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return tl::make_unexpected(path + ": too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (is_answered(address)) return tl::make_unexpected(path + ": another inquestd answers there");
    unlink(path.c_str());
    UniqueFd listener = make_socket();
    if (!listener.valid() || !bind_privately(listener.get(), address) ||
        listen(listener.get(), kBacklog) != 0)
        return failed(path);
    return listener;
}

UniqueFd accept_trusted(int listener_fd, uid_t trusted_uid) {
    for (;;) {
        UniqueFd connection(accept4(listener_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!connection.valid()) return {};
        ucred peer{};
        socklen_t size = sizeof peer;
        const bool known = getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
        if (known && peer.uid == trusted_uid) return connection;
    }
}

}  // namespace inquest::watch
