#include "spank/replicas/comparison.h"

#include "spank/replicas/rank_set.h"
#include "tests/unit/catch.h"
#include "tests/unit/replicas/box_builder.h"

using namespace inquest::replicas;
using inquest::test::parameters_after;

namespace {

/* What the ranks of a world report. */
struct Scene {
    explicit Scene(int rank_count, bool is_promised = true) : ranks(rank_count), promised(is_promised) {}

    void report(int rank, StateDigest digest) {
        digest.promise = promised ? 1 : 0;
        Source source{1, born_wall_ns, static_cast<uint32_t>(rank), static_cast<uint32_t>(ranks)};
        comparison.add({source, digest});
    }
    void report(int rank, int64_t step, uint64_t value, uint32_t part = INQUEST_PART_PARAMETERS,
                uint32_t site = INQUEST_SITE_STEP) {
        StateDigest digest = parameters_after(step, value, ranks);
        digest.part = part;
        digest.site = site;
        report(rank, digest);
    }
    void report_all(int64_t step, const std::vector<uint64_t>& values,
                    uint32_t part = INQUEST_PART_PARAMETERS, uint32_t site = INQUEST_SITE_STEP) {
        for (int rank = 0; rank < ranks; rank++)
            report(rank, step, values.at(static_cast<size_t>(rank)), part, site);
    }
    [[nodiscard]] bool differs() { return comparison.take_difference().has_value(); }

    int ranks;
    bool promised;
    uint64_t born_wall_ns = 1000;
    Comparison comparison;
};

}  // namespace

TEST_CASE("ranks as boxes write them are understood, everything else is not") {
    CHECK(parse_ranks("0-3") == std::vector<uint32_t>{0, 1, 2, 3});
    CHECK(parse_ranks("0,2,5-7") == std::vector<uint32_t>{0, 2, 5, 6, 7});
    CHECK(parse_ranks("0-65535").size() == kMaxRanks);
    for (const char* text : {"", "x", "1-", "-1", "3-1", "1,1", "2,1", "0-65536", "0-4294967295", "1,", "1;2",
                             "99999999999999999999", "0-3 "})
        CHECK(parse_ranks(text).empty());
}

TEST_CASE("replicas that agree are never different") {
    Scene scene(4);
    for (int64_t step = 1; step <= 1024; step *= 2)
        scene.report_all(step, {7, 7, 7, 7});
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
}

TEST_CASE("a difference that was promised not to be is real, and told once, when all ranks have come by") {
    Scene scene(4);
    scene.report_all(4, {7, 7, 7, 7});
    for (const int rank : {0, 1, 2})
        scene.report(rank, 8, 9);
    CHECK_FALSE(scene.differs());
    scene.report(3, 8, 5);
    const auto difference = scene.comparison.take_difference();
    REQUIRE(difference);
    CHECK(difference->kind == Difference::Kind::state);
    CHECK(difference->ranks == "0-3");
    CHECK(difference->ident == 1);
    CHECK(difference->part == INQUEST_PART_PARAMETERS);
    CHECK(difference->moment.step == 8);
    scene.report_all(16, {1, 1, 1, 2});
    CHECK_FALSE(scene.differs());
}

TEST_CASE("initial weights that differ are a difference") {
    Scene scene(2);
    scene.report_all(0, {1, 2}, INQUEST_PART_PARAMETERS, INQUEST_SITE_START);
    CHECK(scene.differs());
}

TEST_CASE("gradients and hyperparameters alone are no difference, buffers are") {
    Scene scene(2);
    for (const uint32_t part : {INQUEST_PART_GRADIENTS, INQUEST_PART_OPTIMIZER, INQUEST_PART_HYPERPARAMETERS})
        scene.report_all(1, {1, 2}, part);
    CHECK_FALSE(scene.differs());
    scene.report_all(1, {1, 2}, INQUEST_PART_BUFFERS);
    CHECK(scene.differs());
}

TEST_CASE("ranks with checkpoints of their own meet at the common ones") {
    Scene scene(2);
    for (int64_t step = 1; step <= 16; step++)
        scene.report(0, step, static_cast<uint64_t>(step));
    CHECK_FALSE(scene.differs());
    for (const int64_t step : {1, 2, 4, 8})
        scene.report(1, step, static_cast<uint64_t>(step));
    CHECK_FALSE(scene.differs());
    scene.report(1, 16, 99);
    CHECK(scene.differs());
}

TEST_CASE("what only one rank saves, and an empty part, is compared with nothing") {
    Scene scene(2);
    scene.report(0, 4, 5, INQUEST_PART_PARAMETERS, INQUEST_SITE_SAVE);
    scene.report_all(8, {7, 7});
    StateDigest empty = parameters_after(16, 1, 2);
    empty.tensors = 0;
    scene.report(0, empty);
    scene.report(1, 16, 2);
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
}

TEST_CASE("a rank that loads a state for itself may end with another one") {
    Scene scene(2);
    scene.report_all(8, {7, 7});
    scene.report(0, 8, 3, INQUEST_PART_PARAMETERS, INQUEST_SITE_LOADED);
    scene.report(0, 8, 3, INQUEST_PART_PARAMETERS, INQUEST_SITE_END);
    scene.report(1, 8, 7, INQUEST_PART_PARAMETERS, INQUEST_SITE_END);
    CHECK_FALSE(scene.differs());
    scene.report_all(16, {3, 7});
    CHECK(scene.differs());
}

TEST_CASE("without a promise, models of their own and averages now and then are left alone") {
    Scene scene(4, false);
    scene.report_all(0, {1, 2, 3, 4}, INQUEST_PART_PARAMETERS, INQUEST_SITE_START);
    for (int64_t step = 1; step <= 64; step++) {
        const auto own = static_cast<uint64_t>(step) * 10;
        scene.report_all(step, {own, own + 1, own + 2, own + 3}, INQUEST_PART_GRADIENTS);
        const bool averaged = step % 8 == 0;
        scene.report_all(step, averaged ? std::vector<uint64_t>{own, own, own, own}
                                        : std::vector<uint64_t>{own, own + 1, own + 2, own + 3});
        scene.report_all(step, {own, own + 1, own + 2, own + 3}, INQUEST_PART_BUFFERS);
    }
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
}

TEST_CASE("without a promise, equal gradients of a majority show that parameters are meant to agree") {
    Scene scene(2, false);
    scene.report_all(4, {9, 9}, INQUEST_PART_GRADIENTS);
    scene.report_all(4, {1, 2});
    CHECK(scene.differs());
}

TEST_CASE("without a promise, running statistics that differ are told where gradients agree") {
    Scene scene(4, false);
    scene.report_all(4, {9, 9, 9, 9}, INQUEST_PART_GRADIENTS);
    scene.report_all(4, {1, 1, 1, 1});
    CHECK_FALSE(scene.differs());
    scene.report_all(4, {1, 2, 3, 4}, INQUEST_PART_BUFFERS);
    CHECK(scene.differs());
}

TEST_CASE("without a promise, equal parameters of a majority after a step show it too") {
    Scene scene(4, false);
    scene.report_all(0, {1, 1, 1, 2}, INQUEST_PART_PARAMETERS, INQUEST_SITE_START);
    CHECK_FALSE(scene.differs());
    scene.report_all(1, {5, 5, 6, 6});
    CHECK_FALSE(scene.differs());
    scene.report_all(2, {5, 5, 5, 6});
    CHECK(scene.differs());
}

TEST_CASE("a promise that only some ranks make is none") {
    Scene scene(2);
    scene.report(0, 1, 1);
    scene.promised = false;
    scene.report(1, 1, 2);
    CHECK_FALSE(scene.differs());
}

TEST_CASE("the end compares what some ranks have not reported") {
    Scene scene(4);
    scene.report(0, 8, 1);
    scene.report(1, 8, 2);
    CHECK_FALSE(scene.differs());
    scene.comparison.finish();
    CHECK(scene.differs());
}

TEST_CASE("the same record again, and one out of order, do no harm") {
    Scene scene(2);
    scene.report(0, 8, 7);
    scene.report(0, 8, 99);
    scene.report(0, 4, 99);
    scene.report(1, 4, 7);
    scene.report(1, 8, 7);
    CHECK_FALSE(scene.differs());
}

TEST_CASE("a job that is started again begins anew") {
    Scene scene(2);
    scene.report(0, 8, 7);
    scene.born_wall_ns = 2000;
    scene.report(0, 1, 7);
    scene.report(1, 1, 7);
    scene.born_wall_ns = 1000;
    scene.report(1, 1, 99);
    scene.report(1, 8, 99);
    CHECK_FALSE(scene.differs());
}

TEST_CASE("groups, optimizers and worlds are compared by themselves") {
    Scene scene(2);
    StateDigest digest = parameters_after(1, 1, 2);
    scene.report(0, digest);
    digest.optimizer = 2;
    digest.digest.low = 2;
    scene.report(1, digest);
    digest.optimizer = 1;
    digest.ranks = "1,3";
    scene.report(1, digest);
    digest.ranks = "0-1";
    scene.comparison.add({{2, 1000, 1, 2}, digest});
    CHECK_FALSE(scene.differs());
}

TEST_CASE("where one rank has an optimizer more, ordinals name other models and nothing is compared") {
    Scene scene(4);
    for (int64_t step = 1; step <= 4; step *= 2)
        for (int rank = 0; rank < 4; rank++) {
            StateDigest digest = parameters_after(step, rank == 0 ? 8 : 7, 4);
            digest.tensors += rank == 0 ? 2 : 0;
            scene.report(rank, digest);
        }
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
}

TEST_CASE("behind a model of one rank's own nothing is told, before it everything") {
    Scene scene(2);
    const auto trained = [](uint64_t optimizer, uint64_t value, uint32_t tensors) {
        StateDigest digest = parameters_after(1, value, 2);
        digest.optimizer = optimizer;
        digest.tensors = tensors;
        return digest;
    };
    scene.report(0, trained(1, 7, 8));
    scene.report(1, trained(1, 7, 8));
    scene.report(0, trained(2, 5, 2)); /* a probe */
    scene.report(0, trained(3, 6, 9));
    scene.report(1, trained(2, 6, 9));
    scene.report(0, trained(4, 9, 9));
    scene.report(1, trained(3, 9, 9));
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
    scene.report_all(2, {7, 8});
    CHECK(scene.differs());
}

TEST_CASE("without a promise a probe is known by its line as soon as one rank has more optimizers") {
    Scene scene(3, false);
    const auto take_step = [&](int rank, uint64_t optimizer, uint64_t value, uint64_t place) {
        for (const uint32_t part : {INQUEST_PART_GRADIENTS, INQUEST_PART_PARAMETERS}) {
            StateDigest digest = parameters_after(1, value, 3);
            digest.optimizer = optimizer;
            digest.part = part;
            digest.place = place;
            scene.report(rank, digest);
        }
    };
    take_step(0, 1, 5, 40); /* a probe */
    take_step(0, 2, 7, 62);
    take_step(1, 1, 7, 62);
    take_step(2, 1, 7, 62);
    CHECK_FALSE(scene.differs());
    take_step(1, 2, 3, 62);
    CHECK_FALSE(scene.differs());
    take_step(2, 2, 3, 62); /* now all have two: the lines say nothing */
    CHECK(scene.differs());
}

TEST_CASE("a model that grows on all ranks is compared as before") {
    Scene scene(2);
    for (const uint32_t tensors : {8U, 9U})
        for (int rank = 0; rank < 2; rank++) {
            StateDigest digest = parameters_after(tensors, 7, 2);
            digest.tensors = tensors;
            scene.report(rank, digest);
        }
    CHECK_FALSE(scene.differs());
    for (int rank = 0; rank < 2; rank++) {
        StateDigest digest = parameters_after(16, static_cast<uint64_t>(rank), 2);
        digest.tensors = 9;
        scene.report(rank, digest);
    }
    CHECK(scene.differs());
}

TEST_CASE("a difference is told also when the job starts again before anybody asks") {
    Scene scene(2);
    scene.report_all(1, {7, 8});
    scene.born_wall_ns = 2000;
    scene.report_all(1, {7, 7});
    CHECK(scene.differs());
    CHECK_FALSE(scene.differs());
}

TEST_CASE("ranks that stop reporting do not make memory grow") {
    Scene scene(2);
    for (int64_t step = 1; step <= 100000; step++)
        scene.report(0, step, 7);
    scene.report(1, 1, 99);
    scene.report(1, 100000, 7);
    scene.comparison.finish();
    CHECK_FALSE(scene.differs());
}

TEST_CASE("what an earlier start still says does not end the new one") {
    Scene scene(2);
    scene.report(0, 8, 7);
    scene.born_wall_ns = 1001;
    scene.report(1, 8, 7);
    scene.born_wall_ns = 2000;
    scene.report(0, 1, 7);
    scene.born_wall_ns = 1001;
    scene.report(1, 16, 7);
    scene.born_wall_ns = 2000;
    scene.report(1, 1, 8);
    CHECK(scene.differs());
}

TEST_CASE("a job of many ranks is compared also when it was started again") {
    Scene scene(static_cast<int>(kMaxRanks));
    for (int start = 0; start < 8; start++) {
        scene.born_wall_ns += 1000;
        scene.report(0, 8, 7);
    }
    scene.report(1, 8, 9);
    scene.comparison.finish();
    CHECK(scene.differs());
}

TEST_CASE("large groups keep fewer checkpoints open") {
    for (const bool is_large : {false, true}) {
        Scene scene(is_large ? static_cast<int>(kMaxRanks) : 2);
        scene.promised = true;
        for (int64_t step = 1; step <= 20; step++)
            scene.report(0, step, 7);
        scene.report(1, 1, 9);
        scene.comparison.finish();
        CHECK(scene.differs() != is_large);
    }
}
