#include "spank/harvest/stack_request.h"

#include "spank/harvest/file_access.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;

namespace {

const ProcessIdentity kProcess{815, 4711};
constexpr uint64_t kCatches40 = 1ULL << 39;

std::vector<std::string> request(FakeNode& node, int signal) {
    const UniqueFd boxes = open_directory(node.boxes());
    return request_stacks(boxes.get(), {{kProcess, signal}}, node.mono_ns + 2000000000, node.system());
}

}  // namespace

TEST_CASE("a process that catches the signal is asked") {
    FakeNode node;
    node.write_process(kProcess, 'S', kCatches40);
    CHECK(request(node, 40).empty());
    REQUIRE(node.signals.size() == 1);
    CHECK(node.signals[0].second == 40);
}

TEST_CASE("a signal that could harm is never sent") {
    FakeNode node;
    node.write_process(kProcess, 'S', kCatches40);
    int signal = 40;
    SECTION("not caught") {
        signal = 41;
    }
    SECTION("no real-time signal") {
        signal = 9;
    }
    SECTION("beyond the last signal") {
        signal = 65;
    }
    SECTION("negative") {
        signal = -1;
    }
    SECTION("another process has the pid now") {
        node.write_process({815, 4712}, 'S', kCatches40);
    }
    SECTION("gone") {
        node.remove_process(kProcess);
    }
    SECTION("another user's") {
        inquest::test::write_file(node.proc() / "815" / "status",
                                  "Uid:\t4242\t4242\t4242\t4242\nSigCgt:\tffffffffffffffff\n");
    }
    CHECK(request(node, signal).size() == 1);
    CHECK(node.signals.empty());
}

TEST_CASE("the wait for stacks is bounded") {
    FakeNode node;
    node.answers_signals = false;
    node.write_process(kProcess, 'S', kCatches40);
    const uint64_t begin = node.mono_ns;
    const auto damage = request(node, 40);
    REQUIRE(damage.size() == 1);
    CHECK(damage[0] == "stack-815-4711: no stacks within the time");
    CHECK(node.mono_ns - begin < 2100000000);
}

TEST_CASE("a process without a handler of ours is left alone") {
    FakeNode node;
    node.write_process(kProcess, 'S', kCatches40);
    CHECK(request(node, 0).empty());
    CHECK(node.signals.empty());
}
