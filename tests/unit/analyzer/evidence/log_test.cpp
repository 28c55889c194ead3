#include <chrono>

#include "analyzer/evidence/log_prefix.h"
#include "analyzer/evidence/log_reader.h"
#include "analyzer/evidence/log_time.h"
#include "tests/unit/catch.h"

using namespace inquest::evidence;
using inquest::model::LogClock;
using inquest::model::LogFile;
using namespace std::string_literals;

namespace {

LogFile read(std::string_view text, Notes& notes, const Limits& limits = {}, size_t piece = SIZE_MAX) {
    LogReader reader("job.log", limits, notes);
    for (size_t at = 0; at < text.size(); at += piece) {
        reader.feed(text.substr(at, piece));
        if (piece == SIZE_MAX) break;
    }
    return reader.finish();
}

LogFile read(std::string_view text) {
    Notes notes;
    return read(text, notes);
}

int64_t wall(int year, int month, int day, int hour, int minute, int second, int64_t ns = 0) {
    using namespace std::chrono;
    const sys_days days{std::chrono::year(year) / month / day};
    return nanoseconds(days.time_since_epoch()).count() +
           ((hour * 60 + minute) * int64_t{60} + second) * 1'000'000'000 + ns;
}

}  // namespace

TEST_CASE("ranks that prefixes state") {
    const std::vector<std::pair<const char*, int>> cases = {
        {"[rank3]:[E1026 04:01:29.510593654 ProcessGroupNCCL.cpp:683] [Rank 3] x", 3},
        {"[rank0]: Traceback (most recent call last):", 0},
        {"[E ProcessGroupNCCL.cpp:828] [Rank 2] Watchdog caught", 2},
        {"11: [rank12]:[E ProcessGroupNCCL.cpp:563] [Rank 12] x", 12},
        {"[default0]:[rank12]:[E817 17:40:34.227531918 ProcessGroupNCCL.cpp:1515] x", 12},
        {"(RayTrainWorker pid=7, ip=10.0.0.1) [rank5]:[E ProcessGroupNCCL.cpp:563] x", 5},
        {"[1,2]<stdout>:node01:29880:30398 [0] init.cc:497 NCCL WARN x", 2},
        {"[4]<stderr>:boom", 4},
        {"fa88a9df [rank=2] || boom", 2},
        {"2024-08-23T22:22:50.870Z | [rank6]:[E ProcessGroupNCCL.cpp:563] x", 6},
        {"[PG ID 0 PG GUID 0(default_pg) Rank 7] Exception detected", 7},
        {"[PG 0 Rank 2] Timeout at NCCL work: 19", 2},
    };
    for (const auto& [line, rank] : cases) {
        INFO(line);
        CHECK(parse_log_prefix(line).rank == rank);
    }
    for (const char* line :
         {"node01:1:2 [1] NCCL INFO x", "[rank: 0] Seed set to 1", "[default0]:x", "rank 3",
          "[PG 4 Rank 1] x", "[Rank x]", "[rank]:", "[rank3", "[1,2] x", "", "[rank99999999999]:"}) {
        INFO(line);
        CHECK_FALSE(parse_log_prefix(line).rank);
    }
}

TEST_CASE("srun labels count when most lines have one") {
    const LogFile labelled = read("0: a\n 1: b\n10: [rank3]: c\nsrun: error: x\n");
    CHECK(labelled.lines[0].rank == 0);
    CHECK(labelled.lines[1].rank == 1);
    CHECK(labelled.lines[2].rank == 3);
    CHECK_FALSE(labelled.lines[3].rank);
    const LogFile plain = read("results\n3: three\nend\nbye\n");
    CHECK_FALSE(plain.lines[1].rank);
}

TEST_CASE("time stamps") {
    const auto utc = find_log_time("2024-08-23T22:22:50.870Z | x");
    REQUIRE(utc);
    CHECK(utc->wall_ns == wall(2024, 8, 23, 22, 22, 50, 870'000'000));
    CHECK(utc->clock == LogClock::kUtc);
    CHECK(find_log_time("[2024-08-23T22:22:50+02:00] x")->wall_ns == wall(2024, 8, 23, 20, 22, 50));
    const auto local = find_log_time("2024-05-07 15:51:09,140 - root - INFO");
    CHECK(local->wall_ns == wall(2024, 5, 7, 15, 51, 9, 140'000'000));
    CHECK(local->clock == LogClock::kLocal);
    CHECK(find_log_time("[2025/05/10 23:09:41] n1:1:2 [0] NCCL WARN")->wall_ns ==
          wall(2025, 5, 10, 23, 9, 41));
    const auto glog = find_log_time("[rank3]:[E205 04:01:29.510593654 ProcessGroupNCCL.cpp:683] x");
    CHECK(glog->wall_ns == wall(1972, 2, 5, 4, 1, 29, 510'593'654));
    CHECK(glog->clock == LogClock::kLocalWithoutYear);
    CHECK(find_log_time("W1229 22:06:38.480071392 x")->wall_ns == wall(1972, 12, 29, 22, 6, 38, 480'071'392));
    CHECK(find_log_time("Oct  6 04:01:29 n1 kernel: NVRM: Xid")->wall_ns == wall(1972, 10, 6, 4, 1, 29));
    CHECK(find_log_time(
              "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2020-07-03T02:59:56 DUE TO TIME LIMIT")
              ->wall_ns == wall(2020, 7, 3, 2, 59, 56));
    for (const char* line :
         {"2024-13-07 15:51:09", "2024-05-07", "E1399 04:01:29.5", "1234-56-78 99:99:99", "E123",
          "[  +0.000316] pcieport", "loss 2024-05-0715:51:09", "Mon 04:01:29 and more"}) {
        INFO(line);
        CHECK_FALSE(find_log_time(line));
    }
}

TEST_CASE("years come from dated lines or from the evidence") {
    LogFile log = read("E1231 23:59:59.0 a\n2026-01-01T00:00:05Z b\nE101 00:00:06.0 c\n");
    resolve_years(log, 0);
    CHECK(log.lines[0].wall_ns == wall(2025, 12, 31, 23, 59, 59));
    CHECK(log.lines[2].wall_ns == wall(2026, 1, 1, 0, 0, 6));
    LogFile undated = read("E229 01:00:00.0 a\n");
    resolve_years(undated, 0);
    CHECK(undated.lines[0].wall_ns == wall(1972, 2, 29, 1, 0, 0));
    resolve_years(undated, wall(2024, 3, 1, 0, 0, 0));
    CHECK(undated.lines[0].wall_ns == wall(2024, 2, 29, 1, 0, 0));
}

TEST_CASE("lines, however they end") {
    const LogFile log = read("a\r\n\nprogress 1%\rprogress 2%\rTraceback\nlast");
    REQUIRE(log.lines.size() == 6);
    CHECK(log.lines[0].text == "a");
    CHECK(log.lines[1].text.empty());
    CHECK(log.lines[2].text == "progress 1%");
    CHECK(log.lines[4].text == "Traceback");
    CHECK(log.lines[4].number == 3);
    CHECK(log.lines[5].text == "last");
    CHECK(log.lines[5].number == 4);
}

TEST_CASE("colours, NUL bytes and broken UTF-8") {
    const LogFile log = read("\x1B[31m[rank3]: red\x1B[0m\na\0b\xFF\n\x1B[\n\x1B"s);
    CHECK(log.lines[0].text == "[rank3]: red");
    CHECK(log.lines[0].rank == 3);
    CHECK(log.lines[1].text ==
          "a\xEF\xBF\xBD"
          "b\xEF\xBF\xBD");
}

TEST_CASE("any split into pieces gives the same lines") {
    const std::string text = "one\r\ntwo\rthree\n\n[rank1]: four\nfive";
    Notes notes;
    const LogFile whole = read(text);
    for (size_t piece = 1; piece < text.size(); ++piece) {
        const LogFile pieces = read(text, notes, {}, piece);
        REQUIRE(pieces.lines.size() == whole.lines.size());
        for (size_t i = 0; i < whole.lines.size(); ++i) {
            CHECK(pieces.lines[i].text == whole.lines[i].text);
            CHECK(pieces.lines[i].number == whole.lines[i].number);
        }
    }
}

TEST_CASE("long lines are cut and counted") {
    Limits limits;
    limits.log_line_bytes = 10;
    Notes notes;
    const LogFile log =
        read("0123456789\n0123456789a\n" + std::string(100, 'x') + "\nend\n", notes, limits, 7);
    REQUIRE(log.lines.size() == 4);
    CHECK(log.lines[0].text == "0123456789");
    CHECK(log.lines[1].text == "0123456789");
    CHECK(log.lines[2].text == "xxxxxxxxxx");
    CHECK(log.lines[3].text == "end");
    const auto list = notes.take();
    REQUIRE(list.size() == 1);
    CHECK(list[0].count == 2);
    CHECK(list[0].source.position == "line 2");
}

TEST_CASE("a large log keeps its beginning and its end") {
    Limits limits;
    limits.log_head_bytes = 1000;
    limits.log_tail_bytes = 1000;
    std::string text;
    for (int i = 1; i <= 1000; ++i)
        text += "line " + std::to_string(i) + "\n";
    Notes notes;
    const LogFile log = read(text, notes, limits);
    CHECK(log.lines.size() < 100);
    CHECK(log.lines.front().text == "line 1");
    CHECK(log.lines.back().text == "line 1000");
    CHECK(log.lines.back().number == 1000);
    CHECK(notes.take().at(0).text.find("lines left out in the middle") != std::string::npos);
}
