/* Facts about processes from /proc (proc(5)), below a root directory that tests replace.
 *
 * A process is named by its pid and its start time: a pid alone may have been given to another process. */
#ifndef INQUEST_SPANK_HARVEST_PROCESS_TABLE_H
#define INQUEST_SPANK_HARVEST_PROCESS_TABLE_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inquest::harvest {

struct ProcessIdentity {
    int32_t pid = 0;
    uint64_t start_time_ticks = 0; /* field 22 of /proc/PID/stat */
    /* clang-tidy 14 takes the 0 of a defaulted comparison for a pointer. */
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const ProcessIdentity&) const = default;
};

struct ProcessStat {
    char state = '?';
    uint64_t start_time_ticks = 0;
    uint64_t cpu_ns = 0; /* utime + stime */
};

struct ProcessStatus {
    uint32_t real_uid = 0;
    uint32_t effective_uid = 0;
    uint64_t caught_signals = 0; /* SigCgt: bit n-1 is signal n */
};

std::optional<ProcessStat> read_process_stat(const std::string& proc_root, int32_t pid);
std::optional<ProcessStatus> read_process_status(const std::string& proc_root, int32_t pid);

/* wchar of /proc/PID/io: bytes that the process passed to write calls. */
std::optional<uint64_t> read_bytes_written(const std::string& proc_root, int32_t pid);

/* The process's stat while it exists under this identity and is neither a zombie nor dead. */
std::optional<ProcessStat> find_living(const std::string& proc_root, const ProcessIdentity& identity);

/* Reads an identity from "<prefix><pid>-<start><suffix>"; the whole name has to match. */
std::optional<ProcessIdentity> identity_from_name(std::string_view name, std::string_view prefix,
                                                  std::string_view suffix);

/* "<pid>-<start>" */
std::string identity_text(const ProcessIdentity& identity);

}  // namespace inquest::harvest

#endif
