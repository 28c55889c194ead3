/* The tensor table, as another process reads it from the file. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "spank/format/tensor_table.h"
#include "spank/recorder/inquest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/box_fixture.h"

using namespace inquest::recorder_test;

namespace {

struct Table {
    std::string bytes;
    const inquest_table_header& header() const {
        return *reinterpret_cast<const inquest_table_header*>(bytes.data());
    }
    const inquest_table_live& live() const {
        return *reinterpret_cast<const inquest_table_live*>(bytes.data() + INQUEST_TABLE_LIVE_OFFSET);
    }
    std::string names() const { return bytes.substr(header().names.offset_bytes, live().names_used_bytes); }
    inquest_table_entry entry(uint64_t number) const {
        inquest_table_entry entry;
        const inquest_box_area& area = header().entries;
        std::memcpy(&entry, bytes.data() + area.offset_bytes + number % area.capacity * sizeof entry,
                    sizeof entry);
        return entry;
    }
    bool has(uint64_t number) const { return entry(number).mark == number + 1; }
};

bool is_table(const std::string& path) {
    return path.ends_with(".ibt");
}

std::vector<Table> read_tables(const TemporaryDirectory& directory) {
    std::vector<Table> tables;
    for (const std::string& path : directory.files()) {
        if (is_table(path)) {
            std::ostringstream content;
            content << std::ifstream(path, std::ios::binary).rdbuf();
            tables.push_back({content.str()});
        }
    }
    return tables;
}

Table read_table(const TemporaryDirectory& directory) {
    const std::vector<Table> tables = read_tables(directory);
    REQUIRE(tables.size() == 1);
    const inquest_table_header& header = tables[0].header();
    REQUIRE(std::memcmp(header.magic, INQUEST_TABLE_MAGIC, sizeof header.magic) == 0);
    REQUIRE(header.total_bytes == tables[0].bytes.size());
    return tables[0];
}

/* Every field of the entry follows from the number, so that a mixture of two shows. */
inquest_digest digest_for(uint64_t number) {
    inquest_digest digest = {};
    digest.low = number * 3;
    digest.high = number * 5;
    digest.norm = static_cast<double>(number);
    for (uint64_t lane = 0; lane < INQUEST_TABLE_LANES; lane++) {
        digest.lane[lane] = number + lane;
    }
    return digest;
}

bool is_for(const inquest_table_entry& entry, uint64_t number) {
    const inquest_digest digest = digest_for(number);
    bool is_equal = entry.digest_low == digest.low && entry.digest_high == digest.high &&
                    std::memcmp(&entry.norm_bits, &digest.norm, sizeof digest.norm) == 0;
    for (uint64_t lane = 0; lane < INQUEST_TABLE_LANES; lane++) {
        const uint64_t sum = digest.lane[lane];
        is_equal =
            is_equal && entry.lane[lane] == static_cast<uint16_t>(sum ^ sum >> 16U ^ sum >> 32U ^ sum >> 48U);
    }
    return is_equal;
}

int64_t write_entries(uint64_t first, uint32_t count) {
    std::vector<inquest_digest> digests(count);
    for (uint32_t i = 0; i < count; i++) {
        digests[i] = digest_for(first + i);
    }
    return inquest_table_write(digests.data(), count);
}

int open_table(const TemporaryDirectory& directory, uint32_t tensors) {
    const int error = inquest_box_claim(directory.path().c_str(), nullptr);
    return error != 0 ? error : inquest_table_open(tensors);
}

int write_name(const std::string& lines) {
    return inquest_table_name(lines.data(), lines.size());
}

constexpr uint32_t kEntriesAtOnce = 1'500;

[[noreturn]] void write_forever(const TemporaryDirectory& directory, int ready_fd) {
    open_table(directory, 1);
    for (uint64_t first = 0;; first += kEntriesAtOnce) {
        write_entries(first, kEntriesAtOnce);
        if (first == 0) {
            (void)!write(ready_fd, "x", 1);
        }
    }
}

void kill_in_the_middle(const TemporaryDirectory& directory, long after_ns) {
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        write_forever(directory, ready[1]);
    }
    char byte = 0;
    const ssize_t count = read(ready[0], &byte, 1);
    const timespec pause{0, after_ns};
    nanosleep(&pause, nullptr);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("without a box there is no table, and without a table nothing is written") {
    TemporaryDirectory directory;
    CHECK(run_in_child([&] {
              return inquest_table_open(4) == -ENODEV && write_name("1 1 0 int8 - - x\n") == -ENODEV &&
                             write_entries(0, 1) == -ENODEV
                         ? 0
                         : 1;
          }) == 0);
    CHECK(directory.files().empty());
}

TEST_CASE("a table belongs to its process and holds names and entries") {
    TemporaryDirectory directory;
    REQUIRE(run_in_child([&] {
                const bool is_written = open_table(directory, 3) == 0 && inquest_table_open(3) == 0 &&
                                        write_name("1 1 0 float32 2x2 - a\n1 1 1 float32 - - b\n") == 0 &&
                                        write_entries(0, 2) == 0 && write_entries(2, 1) == 2 &&
                                        write_name("1 1 2 float32 5 n c") == -EINVAL &&
                                        write_name("") == -EINVAL && write_name("1 1 2 float32 5 n c\n") == 0;
                return is_written ? 0 : 1;
            }) == 0);
    const Table table = read_table(directory);
    const auto files = directory.files();
    const auto path = std::find_if(files.begin(), files.end(), is_table);
    CHECK(*path == directory.path() + "/tensors-" + std::to_string(table.header().pid) + "-" +
                       std::to_string(table.header().start_time_ticks) + ".ibt");
    struct stat file {};
    REQUIRE(stat(path->c_str(), &file) == 0);
    CHECK((file.st_mode & 07777) == 0600);
    CHECK(file.st_blocks * 512 >= file.st_size);
    CHECK(table.names() == "1 1 0 float32 2x2 - a\n1 1 1 float32 - - b\n1 1 2 float32 5 n c\n");
    CHECK(table.live().entries_head == 3);
    for (uint64_t number = 0; number < 3; number++) {
        CHECK((table.has(number) && is_for(table.entry(number), number)));
    }
    CHECK_FALSE(table.has(3));
}

TEST_CASE("the size follows the number of tensors within the bounds of the format") {
    const struct {
        uint32_t tensors, names_bytes, entries;
    } sizes[] = {{0, 65'536, 4'096}, {1'000, 128'000, 16'000}, {4'294'967'295, 1'048'576, 32'768}};
    for (const auto& size : sizes) {
        TemporaryDirectory directory;
        REQUIRE(run_in_child([&] { return open_table(directory, size.tensors) == 0 ? 0 : 1; }) == 0);
        const inquest_table_header header = read_table(directory).header();
        CHECK(header.names.capacity == size.names_bytes);
        CHECK(header.entries.capacity == size.entries);
        CHECK(header.entries.offset_bytes == header.names.offset_bytes + size.names_bytes);
        CHECK(header.total_bytes == header.entries.offset_bytes + uint64_t{size.entries} * 64);
    }
}

TEST_CASE("the newest entries survive the turn of the ring, and too many at once are refused") {
    TemporaryDirectory directory;
    REQUIRE(run_in_child([&] {
                bool is_written = open_table(directory, 1) == 0 && write_entries(0, 2'049) == -ENOSPC;
                for (uint64_t first = 0; first < 10'000; first += 1'000) {
                    is_written = is_written && write_entries(first, 1'000) == static_cast<int64_t>(first);
                }
                return is_written ? 0 : 1;
            }) == 0);
    const Table table = read_table(directory);
    CHECK(table.live().entries_head == 10'000);
    for (uint64_t number = 10'000 - 4'096; number < 10'000; number++) {
        REQUIRE((table.has(number) && is_for(table.entry(number), number)));
    }
    CHECK_FALSE(table.has(10'000 - 4'097));
}

TEST_CASE("names that do not fit are counted and none of them is written") {
    TemporaryDirectory directory;
    const std::string line = "1 1 0 float32 2 - " + std::string(981, 'x') + "\n";
    REQUIRE(run_in_child([&] {
                bool is_written = open_table(directory, 1) == 0;
                for (int i = 0; i < 65; i++) {
                    is_written = is_written && write_name(line) == 0;
                }
                return is_written && write_name(line + line) == -ENOSPC && write_name("short\n") == 0 ? 0 : 1;
            }) == 0);
    const Table table = read_table(directory);
    CHECK(table.live().dropped_names == 2);
    CHECK(table.live().names_used_bytes == 65'006);
    CHECK(table.names().ends_with("x\nshort\n"));
}

TEST_CASE("lines of several threads stay whole") {
    TemporaryDirectory directory;
    REQUIRE(run_in_child([&] {
                std::atomic<int> failures = open_table(directory, 1);
                std::vector<std::thread> threads;
                for (int thread = 0; thread < 4; thread++) {
                    threads.emplace_back([&failures, thread] {
                        for (int i = 0; i < 200; i++) {
                            failures += write_name(std::string(30, static_cast<char>('a' + thread)) + "\n");
                        }
                    });
                }
                for (std::thread& thread : threads) {
                    thread.join();
                }
                return failures == 0 ? 0 : 1;
            }) == 0);
    std::istringstream names(read_table(directory).names());
    size_t lines = 0;
    for (std::string line; std::getline(names, line); lines++) {
        REQUIRE(line == std::string(30, line.at(0)));
    }
    CHECK(lines == 800);
}

TEST_CASE("a table that does not fit leaves nothing behind and the box works on") {
    TemporaryDirectory directory;
    REQUIRE(run_in_child([&] {
                signal(SIGXFSZ, SIG_IGN);
                const rlimit limit{1'000'000, 1'000'000};
                setrlimit(RLIMIT_FSIZE, &limit);
                return open_table(directory, 10'000) == -EFBIG && write_entries(0, 1) == -ENODEV &&
                               inquest_box_is_claimed() == 1
                           ? 0
                           : 1;
            }) == 0);
    CHECK(read_tables(directory).empty());
    CHECK(directory.files().size() == 1);
}

TEST_CASE("a forked child does not write into its parent's table and may open its own") {
    TemporaryDirectory directory;
    REQUIRE(run_in_child([&] {
                bool is_right = open_table(directory, 1) == 0;
                const int child_status = run_in_child([&] {
                    return write_entries(100, 1) == -ENODEV && open_table(directory, 1) == 0 &&
                                   write_entries(0, 2) == 0
                               ? 0
                               : 1;
                });
                is_right = is_right && child_status == 0 && write_entries(0, 1) == 0;
                return is_right ? 0 : 1;
            }) == 0);
    const std::vector<Table> tables = read_tables(directory);
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].live().entries_head + tables[1].live().entries_head == 3);
    CHECK(tables[0].header().pid != tables[1].header().pid);
}

TEST_CASE("after SIGKILL in the middle of a write only whole entries are taken") {
    for (int round = 0; round < 50; round++) {
        TemporaryDirectory directory;
        kill_in_the_middle(directory, 1000L + round * 7919L);
        const Table table = read_table(directory);
        const uint64_t head = table.live().entries_head;
        const uint64_t capacity = table.header().entries.capacity;
        uint64_t whole = 0;
        for (uint64_t number = head > capacity ? head - capacity : 0; number < head; number++) {
            whole += table.has(number) ? 1 : 0;
            REQUIRE((!table.has(number) || is_for(table.entry(number), number)));
        }
        CHECK(whole + kEntriesAtOnce >= std::min(head, capacity));
    }
}
