/* What a reader finds when the writer is killed in the middle of a write, forks, or is overtaken. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "spank/recorder/inquest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/box_fixture.h"

using namespace inquest::recorder_test;

namespace {

/* Every slot of the body is derived from one value, so that a mixture of two records shows. */
void write_pattern(uint64_t value) {
    int64_t numbers[INQUEST_BOX_RECORD_NUMBERS];
    uint32_t texts[INQUEST_BOX_RECORD_TEXTS];
    for (int i = 0; i < INQUEST_BOX_RECORD_NUMBERS; i++) {
        numbers[i] = static_cast<int64_t>(value * 31 + static_cast<uint64_t>(i));
    }
    for (uint32_t i = 0; i < INQUEST_BOX_RECORD_TEXTS; i++) {
        texts[i] = static_cast<uint32_t>(value) + i;
    }
    inquest_box_write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, value, texts, numbers);
}

bool is_consistent(const inquest_box_record& record) {
    for (int i = 0; i < INQUEST_BOX_RECORD_NUMBERS; i++) {
        if (record.number[i] != static_cast<int64_t>(record.ident * 31 + static_cast<uint64_t>(i))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < INQUEST_BOX_RECORD_TEXTS; i++) {
        if (record.text[i] != static_cast<uint32_t>(record.ident) + i) {
            return false;
        }
    }
    return record.kind == INQUEST_KIND_COLLECTIVE_BEGIN;
}

[[noreturn]] void write_forever(const std::string& directory, int ready_fd) {
    inquest_box_claim(directory.c_str(), nullptr);
    std::thread([] {
        for (uint64_t value = 1U << 20U;; value++) {
            write_pattern(value);
        }
    }).detach();
    for (uint64_t value = 0;; value++) {
        write_pattern(value);
        if (value == 100) {
            (void)!write(ready_fd, "x", 1);
        }
    }
}

/* A pause of an odd length, so that kills hit every point of the loop. */
void pause_ns(long ns) {
    const timespec pause{0, ns};
    nanosleep(&pause, nullptr);
}

size_t torn_count(const Box& box) {
    const uint64_t capacity = INQUEST_BOX_COLLECTIVES_CAPACITY;
    const uint64_t head = box.live().ring_head[INQUEST_RING_COLLECTIVES];
    return (head < capacity ? head : capacity) - box.records(INQUEST_RING_COLLECTIVES).size();
}

/* A child that writes until it is killed, at the latest with this object: a test that fails leaves none. */
class EndlessWriter {
 public:
    explicit EndlessWriter(const std::string& directory) {
        int ready[2];
        REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
        pid_ = fork();
        if (pid_ == 0) {
            write_forever(directory, ready[1]);
        }
        char byte = 0;
        const ssize_t count = read(ready[0], &byte, 1);
        close(ready[0]);
        close(ready[1]);
        CHECK(count == 1);
    }
    ~EndlessWriter() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    EndlessWriter(const EndlessWriter&) = delete;
    EndlessWriter& operator=(const EndlessWriter&) = delete;

 private:
    pid_t pid_ = -1;
};

Box killed_writer(int round) {
    TemporaryDirectory directory;
    {
        const EndlessWriter writer(directory.path());
        pause_ns(1000L + round * 7919L);
    }
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    return *box;
}

/* The record in a slot of a box that is being written, by three calls: within one, the kernel copies in no
 * promised order, so that one call may see the marks of one record and bytes of another. */
std::optional<inquest_box_record> read_live(int fd, const inquest_box_area& ring, uint64_t slot) {
    const auto offset =
        static_cast<off_t>(ring.offset_bytes + slot % ring.capacity * sizeof(inquest_box_record));
    uint64_t before = 0;
    uint64_t after = 0;
    inquest_box_record record;
    const bool is_read = pread(fd, &before, sizeof before, offset) == sizeof before &&
                         pread(fd, &record, sizeof record, offset) == sizeof record &&
                         pread(fd, &after, sizeof after, offset) == sizeof after;
    const bool is_whole = is_read && before != INQUEST_BOX_MARK_BUSY && before == after &&
                          record.begin_mark == before && record.end_mark == before && before > 0;
    return is_whole ? std::optional(record) : std::nullopt;
}

}  // namespace

TEST_CASE("after SIGKILL in the middle of a write only whole records are taken") {
    size_t torn = 0;
    for (int round = 0; round < 200; round++) {
        const Box box = killed_writer(round);
        const auto records = box.records(INQUEST_RING_COLLECTIVES);
        CHECK(records.size() > 50);
        for (const auto& record : records) {
            REQUIRE(is_consistent(record));
        }
        torn += torn_count(box);
    }
    WARN("torn records in 200 kills: " << torn);
}

TEST_CASE("a reader beside a running writer takes only whole records") {
    TemporaryDirectory directory;
    const EndlessWriter writer(directory.path());
    const std::string path = directory.files().front();
    const auto box = read_box(path);
    REQUIRE(box);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    size_t taken = 0;
    for (uint64_t slot = 0; slot < 50 * INQUEST_BOX_COLLECTIVES_CAPACITY; slot++) {
        const auto record = read_live(fd, box->header().ring[INQUEST_RING_COLLECTIVES], slot);
        taken += record ? 1 : 0;
        REQUIRE((!record || is_consistent(*record)));
    }
    close(fd);
    CHECK(taken > 1'000);
}

TEST_CASE("a forked child does not write into its parent's box and may claim its own") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        const uint32_t parent_text = inquest_box_intern("parent", 6);
        const pid_t child = fork();
        if (child == 0) {
            const bool was_silent = inquest_box_is_claimed() == 0;
            write_pattern(7);
            inquest_box_claim(directory.path().c_str(), nullptr);
            const uint32_t child_text = inquest_box_intern("child", 5);
            write_pattern(9);
            _exit(was_silent && child_text == parent_text ? 0 : 1);
        }
        int child_status = -1;
        waitpid(child, &child_status, 0);
        write_pattern(8);
        return child_status == 0 ? 0 : 1;
    });
    CHECK(status == 0);
    const auto files = directory.files();
    REQUIRE(files.size() == 2);
    std::multiset<uint64_t> idents;
    for (const auto& file : files) {
        const auto box = read_box(file);
        REQUIRE(box);
        REQUIRE(box->records(INQUEST_RING_COLLECTIVES).size() == 1);
        idents.insert(box->records(INQUEST_RING_COLLECTIVES)[0].ident);
    }
    CHECK(idents == std::multiset<uint64_t>{8, 9});
}

TEST_CASE("a writer that was overtaken or is held up never mixes two records") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        char path[512];
        inquest_box_path("box", ".ibb", path, sizeof path);
        FILE* file = fopen(path, "r+");
        const uint64_t busy = INQUEST_BOX_MARK_BUSY;
        fseek(file,
              INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES + INQUEST_BOX_EVENTS_CAPACITY * 128,
              SEEK_SET);
        fwrite(&busy, sizeof busy, 1, file);
        fclose(file);
        write_pattern(1); /* its slot is busy: dropped */
        write_pattern(2);
        return 0;
    });
    CHECK(status == 0);
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    const auto records = box->records(INQUEST_RING_COLLECTIVES);
    REQUIRE(records.size() == 1);
    CHECK(records[0].ident == 2);
    CHECK(box->live().ring_head[INQUEST_RING_COLLECTIVES] == 2);
}
