/* The log files of a step: regular files of the user that are standard output or error of one of its
 * processes. */
#ifndef INQUEST_SPANK_HARVEST_LOG_FILES_H
#define INQUEST_SPANK_HARVEST_LOG_FILES_H

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inquest::harvest {

constexpr size_t kMaxLogFiles = 64;
constexpr size_t kLogTailBytes = size_t{256} * 1024;

/* A log by path and identity: the process that wrote it may be gone when its tail is wanted. */
struct LogFile {
    std::string path;
    uint64_t device = 0;
    uint64_t inode = 0;
};

/* Adds the logs that are the process's file descriptors 1 and 2 and not yet known. */
void add_log_files(std::vector<LogFile>& logs, const std::string& proc_root, int32_t pid);

/* Last kLogTailBytes from the first whole line on, secrets redacted. An error when the path no longer names
 * the file. */
tl::expected<std::string, std::string> read_log_tail(const LogFile& log);

/* Names for the evidence, one per log, distinct: log-<file name>.txt, with the inode where file names are
 * equal. */
std::vector<std::string> evidence_names(const std::vector<LogFile>& logs);

}  // namespace inquest::harvest

#endif
