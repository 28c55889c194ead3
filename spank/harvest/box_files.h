/* The black boxes and tensor tables in a box directory: who boxes belong to, their live counters, and
 * compressed copies.
 *
 * Boxes are read with pread into private memory and never mapped (spank/format/black_box.h): another process
 * of the user may cut or change them at any moment. */
#ifndef INQUEST_SPANK_HARVEST_BOX_FILES_H
#define INQUEST_SPANK_HARVEST_BOX_FILES_H

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "spank/format/black_box.h"
#include "spank/format/tensor_table.h"
#include "spank/harvest/process_table.h"

namespace inquest::harvest {

constexpr size_t kMaxDirectoryEntries = 4096;
constexpr size_t kMaxBoxes = 256;
constexpr size_t kMaxBoxBytes = size_t{4} * 1024 * 1024;
/* The most that spank/format/tensor_table.h allows. */
constexpr size_t kMaxTableBytes = INQUEST_TABLE_NAMES_OFFSET + INQUEST_TABLE_NAMES_MAX_BYTES +
                                  size_t{INQUEST_TABLE_ENTRIES_MAX} * INQUEST_TABLE_ENTRY_BYTES;

struct BoxFile {
    ProcessIdentity process;
    std::string name; /* in the box directory */
};

/* The boxes among the directory's files by name, at most kMaxBoxes. */
std::vector<BoxFile> find_boxes(const std::vector<std::string>& names);

/* Live counters of an open box; nothing when it was never finished or is too short. */
std::optional<inquest_box_live> read_live_counters(int box_fd);
std::optional<inquest_box_live> read_live_counters_of(int directory_fd, const std::string& name);

/* The whole file, zstd-compressed; one that is longer than the limit is none of ours. */
tl::expected<std::string, std::string> compress_file(int directory_fd, const std::string& name,
                                                     size_t limit_bytes);

}  // namespace inquest::harvest

#endif
