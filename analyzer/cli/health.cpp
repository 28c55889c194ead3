#include "analyzer/cli/health.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "analyzer/cli/program_output.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

struct Part {
    const char* name;
    const char* path;
    int access;  // of access(2)
};

constexpr std::array<Part, 9> kParts = {{
    {"plugin", INQUEST_PATH_PLUGIN, R_OK},
    {"library", INQUEST_PATH_LIBRARY, R_OK},
    {"hook", INQUEST_PATH_PYTHON "/sitecustomize.py", R_OK},
    {"inquest-launch", INQUEST_PATH_LAUNCH, X_OK},
    {"inquest-notice", INQUEST_PATH_NOTICE, X_OK},
    {"inquestd", INQUEST_PATH_DAEMON, X_OK},
    {"inquest-epilog", INQUEST_PATH_EPILOG, X_OK},
    {"knowledge", INQUEST_PATH_KNOWLEDGE, R_OK | X_OK},
    {"settings", INQUEST_PATH_SETTINGS, R_OK | X_OK},
}};

Health check_part(const Part& part) {
    if (access(part.path, part.access) == 0) return {Verdict::kGood, part.name, part.path};
    return {Verdict::kBad, part.name,
            fmt::format("{}: {}; install Inquest anew on this machine, readable for everybody", part.path,
                        std::strerror(errno))};
}

// 0 or an errno.
int connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    const int result =
        connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
    close(fd);
    return result;
}

}  // namespace

std::vector<Health> check_installed_parts() {
    std::vector<Health> lines;
    lines.reserve(kParts.size());
    for (const Part& part : kParts)
        lines.push_back(check_part(part));
    return lines;
}

std::vector<Health> check_configuration(const std::string& launch_path) {
    const auto output = run_program({launch_path, "--check"});
    if (!output) return {{Verdict::kBad, "configuration", output.error() + "; it cannot be checked"}};
    std::vector<Health> lines;
    std::istringstream findings(output->text);
    for (std::string line; std::getline(findings, line);)
        lines.push_back({Verdict::kBad, "configuration", line});
    if (!lines.empty()) return lines;
    if (output->exit_code != 0) {
        return {{Verdict::kBad, "configuration",
                 fmt::format("{} --check failed with status {}; install Inquest anew", launch_path,
                             output->exit_code)}};
    }
    return {{Verdict::kGood, "configuration",
             INQUEST_PATH_SITE_CONFIG ", " INQUEST_PATH_SITE_CONFIG ".d: understood, or not there"}};
}

Health check_daemon(const std::string& socket_path) {
    switch (const int error = connect_to(socket_path)) {
        case 0:
        case EAGAIN:
            return {Verdict::kGood, "inquestd running", socket_path};
        case EACCES:
        case EPERM:
            return {Verdict::kNote, "inquestd running",
                    socket_path + " is there; only root can tell whether it is answered"};
        default:
            return {Verdict::kNote, "inquestd running",
                    fmt::format("{}: {}; on a compute node start inquestd, elsewhere it is not needed",
                                socket_path, std::strerror(error))};
    }
}

}  // namespace inquest::cli
