#include "spank/harvest/process_table.h"

#include <unistd.h>

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;

TEST_CASE("facts about a process are read around a hostile command name") {
    FakeNode node;
    const ProcessIdentity process{815, 4711};
    node.write_process(process, 'S', 1ULL << 39);
    const auto stat = read_process_stat(node.proc(), 815);
    REQUIRE(stat);
    CHECK(stat->state == 'S');
    CHECK(stat->start_time_ticks == 4711);
    CHECK(stat->cpu_ns == 200U * (1000000000U / static_cast<uint64_t>(sysconf(_SC_CLK_TCK))));
    const auto status = read_process_status(node.proc(), 815);
    REQUIRE(status);
    CHECK(status->real_uid == getuid());
    CHECK(status->caught_signals == 1ULL << 39);
    CHECK(read_bytes_written(node.proc(), 815) == 4096);
}

TEST_CASE("a process lives only under its identity and when it is no zombie") {
    FakeNode node;
    const ProcessIdentity process{815, 4711};
    CHECK_FALSE(find_living(node.proc(), process));
    node.write_process(process, 'R', 0);
    CHECK(find_living(node.proc(), process));
    CHECK_FALSE(find_living(node.proc(), {815, 4712}));
    node.write_process(process, 'Z', 0);
    CHECK_FALSE(find_living(node.proc(), process));
}

TEST_CASE("unreadable facts are absent") {
    FakeNode node;
    const ProcessIdentity process{815, 4711};
    node.write_process(process, 'R', 0);
    for (const char* text : {"", "815 (python", "815 (python) R 1", "815 (python) R 1 x"}) {
        inquest::test::write_file(node.proc() / "815" / "stat", text);
        CHECK_FALSE(read_process_stat(node.proc(), 815));
    }
    inquest::test::write_file(node.proc() / "815" / "status", "Uid:\tx\nSigCgt:\tzz\n");
    CHECK_FALSE(read_process_status(node.proc(), 815));
    inquest::test::write_file(node.proc() / "815" / "io", "wchar:");
    CHECK_FALSE(read_bytes_written(node.proc(), 815));
}

TEST_CASE("identities are read from names that match whole") {
    CHECK(identity_from_name("box-815-4711.ibb", "box-", ".ibb") == ProcessIdentity{815, 4711});
    for (const char* name :
         {"box-815-4711.ibb.zst", "box-815.ibb", "box--815-1.ibb", "box-0-1.ibb", "box-.ibb", "box-1-2x.ibb",
          "box-99999999999-1.ibb", "box-1-../1.ibb", "box-ibb"})
        CHECK_FALSE(identity_from_name(name, "box-", ".ibb"));
}
