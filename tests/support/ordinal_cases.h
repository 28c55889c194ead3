// What ranks show of the models that their optimizers train, and from which ordinal on the ordinals name
// different models. Step workers and analyzer each have this rule, on data of their own.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace inquest::test {

struct ShownModel {
    int rank = 0;
    int64_t optimizer = 1;
    std::string promise = "DistributedDataParallel";  // empty: nobody promises
    int64_t tensors = 8;
    int64_t line = 62;
    std::vector<int> ranks = {0, 1, 2};
};

struct OrdinalCase {
    std::string name;
    std::vector<ShownModel> shown;
    int64_t first_shifted = 0;  // 0: none is
};

inline std::vector<ShownModel> shown_by_all(const ShownModel& model, std::vector<ShownModel> others = {}) {
    for (const int rank : {0, 1, 2}) {
        others.push_back(model);
        others.back().rank = rank;
    }
    return others;
}

inline std::vector<OrdinalCase> ordinal_cases() {
    const std::string ddp = "DistributedDataParallel";
    const ShownModel model;
    const ShownModel second{0, 2};
    return {
        {"one model", shown_by_all(model), 0},
        {"two models", shown_by_all(second, shown_by_all(model)), 0},
        {"a rank that shows nothing yet", {{0}, {1}}, 0},
        {"another number of tensors on one rank", {{0}, {1}, {2, 1, ddp, 9}}, 1},
        {"a promise that one rank does not make", {{0}, {1, 1, ""}, {2}}, 1},
        {"another promise", {{0}, {1}, {2, 1, "DTensor"}}, 1},
        {"other ranks", {{0}, {1}, {2, 1, ddp, 8, 62, {1, 2}}}, 1},
        {"two groups of their own",
         {{0, 1, ddp, 8, 62, {0, 2}}, {2, 1, ddp, 8, 62, {0, 2}}, {1, 1, ddp, 9, 62, {1, 3}}},
         0},
        {"the second optimizer of one rank is another model", shown_by_all(model, {{0, 2, ddp, 4}, {1, 2}}),
         2},
        {"what follows a probe, when the probe shows",
         shown_by_all(second, {{0, 1, ddp, 2}, {1}, {2}, {0, 3}}), 1},
        {"a model that grows on all ranks, one after the other",
         shown_by_all(model, {{0, 1, ddp, 9}, {1, 1, ddp, 9}}), 0},
        {"nobody promises, equal counts, other lines", {{0, 1, "", 8, 62}, {1, 1, "", 8, 99}}, 0},
        {"nobody promises, one optimizer more, other lines",
         {{0, 1, "", 8, 62}, {1, 1, "", 8, 99}, {1, 2, "", 8, 62}},
         1},
        {"nobody promises, one optimizer more, equal lines",
         {{0, 1, "", 8, 62}, {1, 1, "", 8, 62}, {1, 2, "", 8, 62}},
         0},
        {"a wrapper promises, one optimizer more, other lines", {{0}, {1, 1, ddp, 8, 99}, {1, 2}}, 0},
        {"a common line among others, one optimizer more",
         {{0, 1, "", 8, 62}, {1, 1, "", 8, 99}, {1, 1, "", 8, 62}, {1, 2, "", 8, 62}},
         0},
    };
}

}  // namespace inquest::test
