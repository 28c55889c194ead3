#include <sys/stat.h>
#include <zstd.h>

#include "spank/harvest/box_files.h"
#include "spank/harvest/file_access.h"
#include "spank/harvest/log_files.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;
using inquest::test::read_file;
using inquest::test::write_file;

namespace {

std::string decompress(const std::string& bytes) {
    std::string plain(INQUEST_BOX_TOTAL_BYTES * 2, '\0');
    plain.resize(ZSTD_decompress(plain.data(), plain.size(), bytes.data(), bytes.size()));
    return plain;
}

}  // namespace

TEST_CASE("a box is compressed whole") {
    FakeNode node;
    node.write_box({815, 4711}, inquest::test::live_of_rank(3));
    const UniqueFd boxes = open_directory(node.boxes());
    const auto compressed = compress_file(boxes.get(), "box-815-4711.ibb", kMaxBoxBytes);
    REQUIRE(compressed);
    CHECK(decompress(*compressed) == read_file(node.boxes() / "box-815-4711.ibb"));
    CHECK(read_live_counters_of(boxes.get(), "box-815-4711.ibb")->rank == 3);
}

TEST_CASE("what is no box is refused") {
    FakeNode node;
    const UniqueFd boxes = open_directory(node.boxes());
    write_file(node.boxes() / "long", std::string(kMaxBoxBytes + 1, 'x'));
    CHECK_FALSE(compress_file(boxes.get(), "long", kMaxBoxBytes));
    CHECK_FALSE(compress_file(boxes.get(), "missing", kMaxBoxBytes));
    REQUIRE(mkfifo((node.boxes() / "fifo").c_str(), 0600) == 0);
    CHECK_FALSE(compress_file(boxes.get(), "fifo", kMaxBoxBytes));
    std::filesystem::create_symlink("long", node.boxes() / "link");
    CHECK_FALSE(compress_file(boxes.get(), "link", kMaxBoxBytes));
    write_file(node.boxes() / "short", "INQBBOX1");
    CHECK_FALSE(read_live_counters_of(boxes.get(), "short"));
    CHECK_FALSE(read_live_counters_of(boxes.get(), "long"));
}

TEST_CASE("files are read from the wanted end and written whole") {
    const inquest::test::TemporaryDirectory directory;
    const UniqueFd fd = open_directory(directory.path());
    REQUIRE(write_file_atomically(fd.get(), "file", "0123456789"));
    CHECK(read_regular_file(fd.get(), "file", 4, KeptEnd::head)->bytes == "0123");
    CHECK(read_regular_file(fd.get(), "file", 4, KeptEnd::tail)->bytes == "6789");
    CHECK(read_regular_file(fd.get(), "file", 4, KeptEnd::tail)->cut);
    REQUIRE(write_file_atomically(fd.get(), "file", "new"));
    CHECK(read_file(directory.path() / "file") == "new");
    CHECK(list_directory(fd.get(), 10) == std::vector<std::string>{"file"});
    struct stat status {};
    REQUIRE(stat((directory.path() / "file").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600);
}

TEST_CASE("logs are the regular files behind standard output and error") {
    FakeNode node;
    node.write_process({815, 4711}, 'S', 0);
    const auto log = node.root() / "slurm-7.out";
    write_file(log, "token=abc\nlast line\n");
    std::filesystem::create_symlink(log, node.proc() / "815" / "fd" / "1");
    std::filesystem::create_symlink("/dev/null", node.proc() / "815" / "fd" / "2");
    std::vector<LogFile> logs;
    add_log_files(logs, node.proc(), 815);
    add_log_files(logs, node.proc(), 815);
    REQUIRE(logs.size() == 1);
    CHECK(evidence_names(logs) == std::vector<std::string>{"log-slurm-7.out.txt"});
    CHECK(*read_log_tail(logs[0]) == "token=<redacted>\nlast line\n");
    write_file(node.root() / "other", "x");
    std::filesystem::rename(node.root() / "other", log);
    CHECK_FALSE(read_log_tail(logs[0]));
}

TEST_CASE("a long log is cut at a line, and names are kept apart") {
    FakeNode node;
    const auto log = node.root() / "a b.log";
    write_file(log, std::string(kLogTailBytes, 'x') + "\nend\n");
    struct stat status {};
    REQUIRE(stat(log.c_str(), &status) == 0);
    CHECK(*read_log_tail({log, status.st_dev, status.st_ino}) == "end\n");
    CHECK(evidence_names({{"/0/out", 1, 5}, {"/1/out", 1, 6}, {"/a b", 1, 7}}) ==
          std::vector<std::string>{"log-out-5.txt", "log-out-6.txt", "log-a_b.txt"});
}
