#include "spank/watch/stall_rule.h"

#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::watch;
using inquest::test::live_of_rank;

namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kNow = 100 * kSecond;

inquest_box_live rank_with(uint64_t progress_s, uint64_t open_collectives) {
    inquest_box_live live = live_of_rank(0);
    live.last_progress_mono_ns = progress_s * kSecond;
    live.collectives_begun = open_collectives;
    return live;
}

}  // namespace

TEST_CASE("a node stalls when nobody makes progress while somebody waits") {
    CHECK(stalled_since({rank_with(85, 1), rank_with(90, 0)}, 10 * kSecond, kNow) == 90 * kSecond);
    CHECK_FALSE(stalled_since({rank_with(85, 1), rank_with(91, 0)}, 10 * kSecond, kNow));
    CHECK_FALSE(stalled_since({rank_with(85, 0), rank_with(90, 0)}, 10 * kSecond, kNow));
    CHECK_FALSE(stalled_since({}, 10 * kSecond, kNow));
    CHECK_FALSE(stalled_since({rank_with(1, 1)}, 0, kNow));
}

TEST_CASE("backward and the set-up of a group are waits too; saving is not") {
    inquest_box_live live = rank_with(80, 0);
    for (const uint32_t phase : {INQUEST_PHASE_BACKWARD, INQUEST_PHASE_GROUP_SETUP}) {
        live.phase = phase;
        CHECK(stalled_since({live}, 10 * kSecond, kNow));
    }
    live.phase = INQUEST_PHASE_SAVE;
    CHECK_FALSE(stalled_since({live}, 10 * kSecond, kNow));
}

TEST_CASE("a process that starts waits for nobody") {
    inquest_box_live live = rank_with(1, 0);
    live.state = INQUEST_STATE_TORCH_IMPORTED;
    live.phase = INQUEST_PHASE_GROUP_SETUP;
    CHECK_FALSE(stalled_since({live}, 10 * kSecond, kNow));
}

TEST_CASE("progress in the future counts as now") {
    CHECK_FALSE(stalled_since({rank_with(~0ULL / kSecond, 1)}, 10 * kSecond, kNow));
}
