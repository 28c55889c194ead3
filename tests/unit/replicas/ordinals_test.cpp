#include "spank/replicas/ordinals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spank/replicas/rank_set.h"
#include "tests/support/ordinal_cases.h"
#include "tests/unit/catch.h"

using namespace inquest::replicas;
using inquest::test::OrdinalCase;
using inquest::test::ShownModel;

namespace {

using Groups = std::map<GroupKey, ReplicaGroup>;

StateDigest digest_of(const ShownModel& shown) {
    StateDigest digest;
    digest.optimizer = static_cast<uint64_t>(shown.optimizer);
    digest.site = INQUEST_SITE_START;
    digest.part = INQUEST_PART_PARAMETERS;
    digest.tensors = static_cast<uint32_t>(shown.tensors);
    digest.promise = std::hash<std::string>{}(shown.promise) * (shown.promise.empty() ? 0 : 1);
    digest.place = static_cast<uint64_t>(shown.line);
    digest.ranks = fmt::format("{}", fmt::join(shown.ranks, ","));
    return digest;
}

void add(Groups& groups, const ShownModel& shown) {
    const StateDigest digest = digest_of(shown);
    const auto [group, is_new] =
        groups.try_emplace({digest.optimizer, digest.ranks}, parse_ranks(digest.ranks));
    group->second.add(static_cast<uint32_t>(shown.rank), digest);
}

uint64_t first_shifted_in(const OrdinalCase& one) {
    Groups groups;
    for (const ShownModel& shown : one.shown)
        add(groups, shown);
    return first_shifted(groups);
}

}  // namespace

TEST_CASE("from which ordinal on the ordinals name different models") {
    for (const OrdinalCase& one : inquest::test::ordinal_cases()) {
        INFO(one.name);
        const auto expected = static_cast<uint64_t>(one.first_shifted);
        CHECK(first_shifted_in(one) == (expected == 0 ? kNoneShifted : expected));
    }
}

TEST_CASE("a rank's name is new once, and of very many names the later ones tell nothing") {
    ReplicaGroup group({0, 1});
    ShownModel shown;
    CHECK(group.add(0, digest_of(shown)));
    CHECK_FALSE(group.add(0, digest_of(shown)));
    CHECK(group.add(1, digest_of(shown)));
    for (shown.tensors = 100; shown.tensors < 163; shown.tensors++)
        CHECK(group.add(0, digest_of(shown)));
    CHECK_FALSE(group.add(0, digest_of(shown)));
    CHECK(group.names().have_common(0, 1, true));
}
