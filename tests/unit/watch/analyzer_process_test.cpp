#include "spank/watch/analyzer_process.h"

#include <unistd.h>

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using inquest::test::FakeNode;
using inquest::test::read_file;
using inquest::watch::AnalyzerProcess;

TEST_CASE("the analyzer is started with bounded time and may start no process") {
    const FakeNode node;
    const auto program = node.root() / "analyzer";
    const auto limits = node.root() / "limits";
    inquest::test::write_file(program, "#!/bin/sh\n{ ulimit -t; ulimit -p; } > " + limits.string() + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    AnalyzerProcess analyzer(program);
    analyzer.start(node.step(), UINT64_MAX);
    for (int look = 0; look < 5000 && analyzer.is_running(0); look++)
        usleep(2000);
    CHECK(read_file(limits) == "60\n0\n");
}
