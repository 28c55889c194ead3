// The rule for ordinals that name different models, against the cases that step workers are held to as well.
#include <set>

#include "analyzer/detect/checkpoints.h"
#include "tests/support/ordinal_cases.h"
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest;
using namespace inquest::test;

namespace {

model::StateDigest digest_of(const ShownModel& shown) {
    model::StateDigest digest;
    digest.at = {shown.optimizer, 0, INQUEST_SITE_START};
    digest.part = INQUEST_PART_PARAMETERS;
    digest.tensors = shown.tensors;
    digest.promise = shown.promise;
    digest.place.file = "train.py";
    digest.place.line = shown.line;
    digest.ranks = shown.ranks;
    return digest;
}

std::set<int64_t> compared_optimizers(const OrdinalCase& one) {
    TimelineBuilder build(3);
    for (const ShownModel& shown : one.shown)
        build.of(shown.rank).replica.digests.push_back(digest_of(shown));
    const model::Timeline timeline = build.timeline();
    std::set<int64_t> optimizers;
    for (const detect::History& history :
         detect::collect_histories(detect::view_step(timeline, shipped_knowledge())))
        optimizers.insert(history.optimizer);
    return optimizers;
}

// At two ranks at least, and before the ordinals shift.
std::set<int64_t> comparable_optimizers(const OrdinalCase& one) {
    std::set<int64_t> optimizers;
    for (const ShownModel& a : one.shown) {
        for (const ShownModel& b : one.shown) {
            const bool same = a.optimizer == b.optimizer && a.promise == b.promise &&
                              a.tensors == b.tensors && a.ranks == b.ranks && a.rank != b.rank;
            if (same && (one.first_shifted == 0 || a.optimizer < one.first_shifted))
                optimizers.insert(a.optimizer);
        }
    }
    return optimizers;
}

}  // namespace

TEST_CASE("nothing is compared from the first ordinal on that names another model on some rank") {
    for (const OrdinalCase& one : ordinal_cases()) {
        INFO(one.name);
        CHECK(compared_optimizers(one) == comparable_optimizers(one));
    }
}
