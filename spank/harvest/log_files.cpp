#include "spank/harvest/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <map>
#include <optional>

#include "spank/harvest/file_access.h"
#include "spank/harvest/redaction.h"

namespace inquest::harvest {
namespace {

constexpr size_t kMaxNameBytes = 100;

std::optional<LogFile> log_behind(const std::string& link) {
    struct stat status {};
    if (stat(link.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return std::nullopt;
    char target[PATH_MAX];
    const ssize_t length = readlink(link.c_str(), target, sizeof target);
    if (length <= 0 || length == static_cast<ssize_t>(sizeof target) || target[0] != '/') return std::nullopt;
    return LogFile{std::string(target, static_cast<size_t>(length)), status.st_dev, status.st_ino};
}

bool is_known(const std::vector<LogFile>& logs, const LogFile& log) {
    return std::any_of(logs.begin(), logs.end(), [&](const LogFile& known) {
        return known.device == log.device && known.inode == log.inode;
    });
}

std::string file_name(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1).substr(0, kMaxNameBytes);
    for (char& byte : name) {
        const bool plain =
            std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '.' || byte == '_' || byte == '-';
        if (!plain) byte = '_';
    }
    return name;
}

std::string from_first_whole_line(const FileBytes& tail) {
    const size_t line_end = tail.cut ? tail.bytes.find('\n') : std::string::npos;
    return line_end == std::string::npos ? tail.bytes : tail.bytes.substr(line_end + 1);
}

}  // namespace

void add_log_files(std::vector<LogFile>& logs, const std::string& proc_root, int32_t pid) {
    for (const int fd : {1, 2}) {
        auto log = log_behind(fmt::format("{}/{}/fd/{}", proc_root, pid, fd));
        if (log && logs.size() < kMaxLogFiles && !is_known(logs, *log)) logs.push_back(std::move(*log));
    }
}

tl::expected<std::string, std::string> read_log_tail(const LogFile& log) {
    const UniqueFd file(open(log.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return tl::make_unexpected("open: " + errno_text());
    if (status.st_dev != log.device || status.st_ino != log.inode || !S_ISREG(status.st_mode))
        return tl::make_unexpected("was replaced by another file");
    const auto tail = read_open_file(file.get(), kLogTailBytes, KeptEnd::tail);
    if (!tail) return tl::make_unexpected(tail.error());
    return redact_secrets(from_first_whole_line(*tail));
}

std::vector<std::string> evidence_names(const std::vector<LogFile>& logs) {
    std::map<std::string, int> uses;
    for (const LogFile& log : logs)
        uses[file_name(log.path)]++;
    std::vector<std::string> names;
    for (const LogFile& log : logs) {
        const std::string name = file_name(log.path);
        names.push_back(uses[name] == 1 ? fmt::format("log-{}.txt", name)
                                        : fmt::format("log-{}-{}.txt", name, log.inode));
    }
    return names;
}

}  // namespace inquest::harvest
