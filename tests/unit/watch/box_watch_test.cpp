#include "spank/watch/box_watch.h"

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::watch;
using inquest::harvest::ProcessIdentity;
using inquest::test::FakeNode;
using inquest::test::live_of_rank;

namespace {

const ProcessIdentity kRank{815, 4711};

}  // namespace

TEST_CASE("the death of a rank is told once") {
    FakeNode node;
    BoxWatch watch(node.boxes(), node.proc());
    CHECK(watch.update(1).empty());
    node.write_process(kRank, 'S', 0);
    node.write_box(kRank, live_of_rank(2));
    CHECK(watch.update(2).empty());
    REQUIRE(watch.living().size() == 1);
    CHECK(watch.living()[0].rank == 2);
    CHECK(watch.take_new_processes() == std::vector<ProcessIdentity>{kRank});
    CHECK(watch.take_new_processes().empty());
    node.write_process(kRank, 'Z', 0);
    const auto deaths = watch.update(3);
    REQUIRE(deaths.size() == 1);
    CHECK(deaths[0].process == kRank);
    CHECK(deaths[0].gone_mono_ns == 3);
    CHECK(watch.update(4).empty());
    CHECK(watch.living().empty());
    CHECK(watch.gone() == std::map<ProcessIdentity, uint64_t>{{kRank, 3}});
}

TEST_CASE("ends that are no deaths") {
    FakeNode node;
    BoxWatch watch(node.boxes(), node.proc());
    inquest_box_live live = live_of_rank(2);
    node.write_process(kRank, 'S', 0);
    SECTION("exit with status 0") {
        live.state = INQUEST_STATE_EXITED;
    }
    SECTION("a helper that never was a rank") {
        live.rank = -1;
    }
    SECTION("a process that was never seen alive") {
        node.remove_process(kRank);
    }
    SECTION("a rank before its group was ready") {
        live.state = INQUEST_STATE_TORCH_IMPORTED;
    }
    node.write_box(kRank, live);
    CHECK(watch.update(1).empty());
    node.remove_process(kRank);
    CHECK(watch.update(2).empty());
}

TEST_CASE("exit with another status is a death") {
    FakeNode node;
    BoxWatch watch(node.boxes(), node.proc());
    inquest_box_live live = live_of_rank(2);
    live.state = INQUEST_STATE_EXITED;
    live.exit_status = 1;
    node.write_process(kRank, 'S', 0);
    node.write_box(kRank, live);
    watch.update(1);
    node.remove_process(kRank);
    CHECK(watch.update(2).size() == 1);
}

TEST_CASE("boxes that cannot be read are passed over") {
    FakeNode node;
    BoxWatch watch(node.boxes(), node.proc());
    node.write_process(kRank, 'S', 0);
    inquest::test::write_file(node.boxes() / "box-815-4711.ibb", "INQBBOX1");
    std::filesystem::create_symlink("/etc/passwd", node.boxes() / "box-1-1.ibb");
    CHECK(watch.update(1).empty());
    CHECK(watch.living().empty());
    node.remove_process(kRank);
    CHECK(watch.update(2).empty());
}
