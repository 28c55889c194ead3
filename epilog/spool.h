/* Record lines that are not yet in Slurm's accounting: one small file per run of a job in a directory of
 * root's that survives a reboot. A line is spooled before it is sent and removed once it is stored, so a
 * slurmdbd that is down or an epilog that is killed loses nothing. */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace inquest::epilog {

/* Which field of the accounting record holds the line. */
enum class RecordField { kAdminComment, kSystemComment, kComment };

struct RecordEntry {
    std::string cluster;
    std::uint32_t job_id = 0;
    RecordField field = RecordField::kAdminComment;
    /* A moment at which the run of the job was on (seconds since 1970): a requeued job has a record per run.
     */
    std::int64_t run_wall_s = 0;
    bool replaces_own = true; /* whether an earlier line about the same run gives way */
    std::string line;         /* empty: what it would replace is taken away; never in the spool */
    std::vector<std::string> report_names; /* of the run: the last components of its report directories */
};

/* A file is given up after this: the accounting may have purged the job, and an administrator has been told.
 */
inline constexpr std::chrono::hours kMaxSpoolAge{7 * 24};

class Spool {
 public:
    /* `directory` is made (0700) when needed. It must belong to the caller and be writable by nobody else;
     * else every operation fails. */
    explicit Spool(std::string directory) : directory_(std::move(directory)) {}

    /* Writes or replaces the run's file, by rename. False with errno. */
    bool put(const RecordEntry& entry) const;
    /* True when the file is gone. */
    bool remove(const RecordEntry& entry) const;
    /* At most `limit`, by name, beginning behind the one that was tried last, so that lines which nobody
     * takes do not keep others waiting. Files older than kMaxSpoolAge and files that are not entries are
     * removed and counted in `given_up`. */
    std::vector<RecordEntry> next(std::size_t limit, std::size_t& given_up) const;

    /* The next call of next() begins behind this entry. */
    bool continue_after(const RecordEntry& entry) const;

    /* One attempt per minute on a node, so that a slurmdbd that is down does not slow down each job's epilog.
     * True, and the minute starts anew, when lines wait and the last attempt is long enough ago. */
    bool begin_attempt() const;

 private:
    int open_directory() const;
    std::string directory_;
};

/* The content of a spool file and back (docs/formats/record_line.md). Parsing fails on anything that
 * format_entry does not write. */
std::string format_entry(const RecordEntry& entry);
bool parse_entry(const std::string& text, RecordEntry& entry);

/* "admin", "system" or "comment". */
bool parse_field(const std::string& text, RecordField& field);

}  // namespace inquest::epilog
