/* A node made of files for the tests of spank/harvest and spank/watch: a box directory, a /proc tree, a clock
 * that only moves when somebody sleeps, and the bytes of boxes and step messages. */
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "spank/format/black_box.h"
#include "spank/format/step_journal.h"
#include "spank/harvest/harvest_system.h"
#include "spank/harvest/step_description.h"

namespace inquest::test {

/* A directory that goes away with the test. */
class TemporaryDirectory {
 public:
    TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& bytes);
void append_file(const std::filesystem::path& path, const std::string& bytes);
std::string read_file(const std::filesystem::path& path);

/* Live counters of a rank that is between two collectives. */
inquest_box_live live_of_rank(int32_t rank);

/* A finished box with these live counters and empty rings. */
std::string box_bytes(const harvest::ProcessIdentity& process, const inquest_box_live& live);

/* Header and texts of a step message; `fields` gets magic, version and lengths. */
std::string message_bytes(inquest_step_message fields, const std::vector<std::string>& texts = {});

class FakeNode {
 public:
    FakeNode();

    [[nodiscard]] std::filesystem::path root() const { return directory_.path(); }
    [[nodiscard]] std::filesystem::path boxes() const { return root() / "boxes"; }
    [[nodiscard]] std::filesystem::path proc() const { return root() / "proc"; }
    [[nodiscard]] std::filesystem::path report() const { return root() / "work" / "inquest-7"; }
    [[nodiscard]] std::filesystem::path evidence() const { return report() / "evidence" / "0"; }

    /* Step 0 of job 7 with one task on node n1, and its messages. */
    [[nodiscard]] harvest::StepDescription step() const;
    [[nodiscard]] std::string start_message() const;
    [[nodiscard]] std::string task_message(uint16_t kind, int32_t task, int32_t pid,
                                           int32_t wait_status = 0) const;
    [[nodiscard]] std::string plain_message(uint16_t kind) const;

    void write_process(const harvest::ProcessIdentity& process, char state, uint64_t caught_signals);
    void remove_process(const harvest::ProcessIdentity& process);
    void write_box(const harvest::ProcessIdentity& process, const inquest_box_live& live);

    /* Clocks that sleeping moves; signals that make the stack file of the process grow. */
    [[nodiscard]] harvest::HarvestSystem system();

    uint64_t mono_ns = 1000000000000;
    uint64_t wall_ns = 1700000000000000000;
    std::vector<std::pair<harvest::ProcessIdentity, int>> signals;
    bool answers_signals = true;
    uint32_t node_index = 0;
    uint32_t node_count = 1;
    uint32_t local_task_count = 1;
    uint32_t stall_seconds = 10;
    uint32_t flags = 0; /* of messages */

 private:
    [[nodiscard]] inquest_step_message fields(uint16_t kind) const;

    TemporaryDirectory directory_;
};

}  // namespace inquest::test
