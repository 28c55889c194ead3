#include "epilog/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "tests/unit/catch.h"
#include "tests/unit/epilog/temporary_directory.h"

namespace inquest::epilog {
namespace {

RecordEntry entry(std::uint32_t job_id) {
    return {"hive",
            job_id,
            RecordField::kSystemComment,
            1'796'015'050,
            false,
            "inquest 1: rank-died/rank-exception (certain); first rank 2 (n3) train.py:84; report "
            "/home/ada/inquest-4711",
            {"inquest-4711"}};
}

void make_older(const std::string& path, std::time_t seconds) {
    const std::time_t then = std::time(nullptr) - seconds;
    const timespec times[2] = {{then, 0}, {then, 0}};
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

TEST_CASE("an entry survives the way through its file") {
    RecordEntry read;
    REQUIRE(parse_entry(format_entry(entry(4711)), read));
    CHECK(read.cluster == "hive");
    CHECK(read.job_id == 4711);
    CHECK(read.field == RecordField::kSystemComment);
    CHECK(read.run_wall_s == 1'796'015'050);
    CHECK_FALSE(read.replaces_own);
    CHECK(read.line == entry(4711).line);
    CHECK(read.report_names == std::vector<std::string>{"inquest-4711"});
}

TEST_CASE("entries that are none are not written and not read") {
    RecordEntry bad = entry(1);
    bad.cluster = "../x";
    CHECK(format_entry(bad).empty());
    bad = entry(1);
    bad.line = "inquest 1: two\nlines";
    CHECK(format_entry(bad).empty());
    bad = entry(1);
    bad.line = "JS1:H4sI";
    CHECK(format_entry(bad).empty());
    RecordEntry read;
    const std::string good = format_entry(entry(1));
    for (std::size_t length = 0; length < good.size(); length++) {
        REQUIRE_FALSE(parse_entry(good.substr(0, length), read));
    }
    CHECK_FALSE(parse_entry(good + "x", read));
}

TEST_CASE("a spooled line is found again, once per run, and removed") {
    const TemporaryDirectory directory;
    const Spool spool(directory / "spool");
    REQUIRE(spool.put(entry(4711)));
    REQUIRE(spool.put(entry(4711)));
    std::size_t given_up = 0;
    REQUIRE(spool.next(10, given_up).size() == 1);
    CHECK(directory.exists("spool/hive.4711.1796015050"));
    REQUIRE(spool.remove(entry(4711)));
    CHECK(spool.remove(entry(4711)));
    CHECK(spool.next(10, given_up).empty());
    CHECK(given_up == 0);
}

TEST_CASE("lines come in the order of their names, beginning behind the last one tried") {
    const TemporaryDirectory directory;
    const Spool spool(directory / "spool");
    for (const std::uint32_t job_id : {3U, 1U, 2U})
        REQUIRE(spool.put(entry(job_id)));
    const auto next_two = [&] {
        std::size_t given_up = 0;
        std::vector<std::uint32_t> job_ids;
        for (const RecordEntry& found : spool.next(2, given_up))
            job_ids.push_back(found.job_id);
        CHECK(given_up == 0);
        return job_ids;
    };
    CHECK(next_two() == std::vector<std::uint32_t>{1, 2});
    REQUIRE(spool.continue_after(entry(2)));
    CHECK(next_two() == std::vector<std::uint32_t>{3, 1});
    REQUIRE(spool.continue_after(entry(3)));
    CHECK(next_two() == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("each run of a requeued job has a line of its own") {
    const TemporaryDirectory directory;
    const Spool spool(directory / "spool");
    REQUIRE(spool.put(entry(4711)));
    RecordEntry second = entry(4711);
    second.run_wall_s += 60;
    REQUIRE(spool.put(second));
    REQUIRE(spool.remove(second));
    std::size_t given_up = 0;
    const auto left = spool.next(10, given_up);
    REQUIRE(left.size() == 1);
    CHECK(left[0].run_wall_s == entry(4711).run_wall_s);
}

TEST_CASE("old, damaged and misnamed files are given up") {
    const TemporaryDirectory directory;
    const Spool spool(directory / "spool");
    REQUIRE(spool.put(entry(1)));
    make_older(directory / "spool/hive.1.1796015050", 8 * 24 * 3600);
    directory.write("spool/hive.2", "nonsense");
    directory.write("spool/hive.3.1796015050", format_entry(entry(4)));
    std::size_t given_up = 0;
    CHECK(spool.next(10, given_up).empty());
    CHECK(given_up == 3);
    CHECK_FALSE(directory.exists("spool/hive.1.1796015050"));
}

TEST_CASE("a spool that others may write to is not used") {
    const TemporaryDirectory directory;
    REQUIRE(mkdir((directory / "open").c_str(), 0700) == 0);
    REQUIRE(chmod((directory / "open").c_str(), 0777) == 0);
    CHECK_FALSE(Spool(directory / "open").put(entry(1)));
    REQUIRE(symlink(directory.path().c_str(), (directory / "link").c_str()) == 0);
    CHECK_FALSE(Spool(directory / "link").put(entry(1)));
}

TEST_CASE("an attempt is due when lines wait, and not twice within a minute") {
    const TemporaryDirectory directory;
    const Spool spool(directory / "spool");
    CHECK_FALSE(spool.begin_attempt());
    REQUIRE(spool.put(entry(1)));
    CHECK(spool.begin_attempt());
    CHECK_FALSE(spool.begin_attempt());
    make_older(directory / "spool/.last-attempt", 61);
    CHECK(spool.begin_attempt());
}

TEST_CASE("fields by name") {
    RecordField field = RecordField::kAdminComment;
    CHECK(parse_field("comment", field));
    CHECK(field == RecordField::kComment);
    CHECK_FALSE(parse_field("AdminComment", field));
}

}  // namespace
}  // namespace inquest::epilog
