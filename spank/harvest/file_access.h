/* Files and directories by descriptor, for a process that runs as the user among files that are the user's.
 *
 * Every path component below a directory descriptor is opened with O_NOFOLLOW; files are opened with
 * O_NONBLOCK, so that a FIFO cannot block, and have to be regular. Nothing is mapped: a file that is cut
 * while it is read gives a short read, never a signal. All functions report errors as text and throw nothing
 * but std::bad_alloc. */
#ifndef INQUEST_SPANK_HARVEST_FILE_ACCESS_H
#define INQUEST_SPANK_HARVEST_FILE_ACCESS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "spank/harvest/unique_fd.h"

namespace inquest::harvest {

/* Which end of a file that is longer than the limit is kept. */
enum class KeptEnd { head, tail };

struct FileBytes {
    std::string bytes;
    bool cut = false; /* the file was longer than the limit */
};

/* The text of errno's current value. */
std::string errno_text();

/* Opens a directory by path; symbolic links are followed in all components but the last. Invalid on error
 * (errno). */
UniqueFd open_directory(const std::string& path);
UniqueFd open_directory_at(int parent_fd, const std::string& name);

/* Opens the directory `name`, made with mode 0700 if it is missing. It has to belong to the effective user.
 */
tl::expected<UniqueFd, std::string> make_directory_at(int parent_fd, const std::string& name);

/* Opens a regular file for reading, without following a link. Invalid on error (errno; EINVAL for another
 * kind). */
UniqueFd open_regular_file(int directory_fd, const std::string& name);

/* Reads at most `limit` bytes of an open regular file. */
tl::expected<FileBytes, std::string> read_open_file(int fd, size_t limit, KeptEnd kept);
tl::expected<FileBytes, std::string> read_regular_file(int directory_fd, const std::string& name,
                                                       size_t limit, KeptEnd kept);

/* Writes a file of mode 0600 under a temporary name and renames it, so that a reader sees all of it or
 * nothing. */
tl::expected<void, std::string> write_file_atomically(int directory_fd, const std::string& name,
                                                      std::string_view bytes);

/* Names in a directory except "." and "..", in order, at most `limit`. Empty when it cannot be read. */
std::vector<std::string> list_directory(int directory_fd, size_t limit);

/* Reads a small file of /proc, whose size is not known beforehand. Empty when it cannot be read. */
std::string read_proc_file(const std::string& path);

}  // namespace inquest::harvest

#endif
