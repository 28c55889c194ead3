#include "analyzer/detect/divergence_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/detect/divergence_words.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;

constexpr size_t kSeedsTold = 4;
constexpr size_t kEvidencePerFact = 4;

Observation about(const std::string& fact, const DivergenceFinding& finding,
                  const std::vector<DigestOf>& members) {
    Observation observation;
    observation.fact = fact;
    observation.wall_ns = finding.first_bad->wall_ns();
    for (const DigestOf& member : members)
        observation.subjects.push_back(subject_of(*member.view, member.digest->place));
    observation.place = members.front().digest->place;
    return observation;
}

const model::WrappedModel* wrapped_model(const RankView& view) {
    const auto& models = view.rank->models;
    return models.empty() ? nullptr : &models.back();
}

// The random state of a rank at the checkpoint of a digest.
const model::RandomState* random_state_of(const DigestOf& member) {
    const model::Checkpoint& at = member.digest->at;
    for (const model::RandomState& state : member.view->rank->replica.random_states) {
        const bool same =
            state.at.optimizer == at.optimizer && state.at.step == at.step && state.at.site == at.site;
        if (same) return &state;
    }
    return nullptr;
}

// Seeds by rank; empty when one of them is not known.
std::map<int, uint64_t> seeds_of(const Comparison& comparison) {
    std::map<int, uint64_t> seeds;
    for (const DigestOf& member : comparison.members) {
        const model::RandomState* state = random_state_of(member);
        if (state == nullptr || state->torch_seed == 0) return {};
        seeds[*member.view->rank->rank] = state->torch_seed;
    }
    return seeds;
}

bool all_equal(const std::map<int, uint64_t>& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](const auto& value) { return value.second == values.begin()->second; });
}

std::string seed_relation(const std::map<int, uint64_t>& seeds) {
    if (seeds.empty()) return "unknown";
    return all_equal(seeds) ? "equal" : "differ";
}

// "rank 0: 42, rank 1: 43, ..."
std::string describe_seeds(const std::map<int, uint64_t>& seeds) {
    std::vector<std::string> texts;
    for (const auto& [rank, seed] : seeds) {
        if (texts.size() == kSeedsTold) break;
        texts.push_back(fmt::format("rank {}: {}", rank, seed));
    }
    return fmt::format("{}{}", fmt::join(texts, ", "), seeds.size() > kSeedsTold ? ", ..." : "");
}

void add_seeds(const DivergenceFinding& finding, Observations& observations) {
    const auto seeds = seeds_of(*finding.first_bad);
    if (seeds.empty() || all_equal(seeds)) return;
    Observation observation = about("seeds_differ", finding, finding.first_bad->members);
    observation.attributes = {{"seeds", describe_seeds(seeds)}};
    for (const DigestOf& member : finding.first_bad->members) {
        if (observation.evidence.size() == kEvidencePerFact) break;
        const model::RandomState& state = *random_state_of(member);
        observation.evidence.push_back({state.source, member.view->rank->rank, 0,
                                        fmt::format("torch.initial_seed() is {}", state.torch_seed)});
    }
    observations.push_back(std::move(observation));
}

bool generator_differs(const Comparison& comparison, uint64_t model::RandomState::*generator) {
    std::set<uint64_t> seen;
    for (const DigestOf& member : comparison.members) {
        const model::RandomState* state = random_state_of(member);
        if (state == nullptr || state->*generator == 0) return false;
        seen.insert(state->*generator);
    }
    return seen.size() > 1;
}

void add_generators(const DivergenceFinding& finding, Observations& observations) {
    std::vector<std::string> names;
    for (const auto& [name, generator] : {std::pair{"torch", &model::RandomState::torch},
                                          {"Python", &model::RandomState::python},
                                          {"NumPy", &model::RandomState::numpy},
                                          {"device", &model::RandomState::device}}) {
        if (generator_differs(*finding.first_bad, generator)) names.emplace_back(name);
    }
    if (names.empty()) return;
    Observation observation = about("random_state_differs", finding, finding.first_bad->members);
    observation.attributes = {{"generators", fmt::format("{}", fmt::join(names, ", "))}};
    observations.push_back(std::move(observation));
}

const model::StateDigest* load_before_start(const RankView& view, int64_t optimizer) {
    for (const model::StateDigest& digest : view.rank->replica.digests) {
        const bool loaded = digest.at.site == INQUEST_SITE_LOADED && digest.at.optimizer == optimizer &&
                            digest.part == INQUEST_PART_PARAMETERS;
        if (loaded && digest.at.step == 0) return &digest;
    }
    return nullptr;
}

bool loaded_before_start(const DivergenceFinding& finding) {
    return std::any_of(finding.first_bad->members.begin(), finding.first_bad->members.end(),
                       [&](const DigestOf& member) {
                           return load_before_start(*member.view, finding.history->optimizer) != nullptr;
                       });
}

void add_loads(const DivergenceFinding& finding, Observations& observations) {
    std::vector<DigestOf> loaded;
    for (const DigestOf& member : finding.first_bad->members) {
        const auto* digest = load_before_start(*member.view, finding.history->optimizer);
        if (digest != nullptr) loaded.push_back({member.view, digest});
    }
    if (loaded.empty()) return;
    Observation observation = about("state_loaded", finding, loaded);
    observation.attributes = {{"step", "0"}};
    observation.evidence.push_back({loaded.front().digest->source, loaded.front().view->rank->rank,
                                    loaded.front().digest->wall_ns,
                                    "a state was loaded before the first step"});
    observations.push_back(std::move(observation));
}

void add_initial_weights(const DivergenceFinding& finding, Observations& observations) {
    Observation observation = about("initial_weights_differ", finding, finding.sides.off);
    const model::WrappedModel* wrapped = wrapped_model(*finding.sides.off.front().view);
    if (wrapped != nullptr && wrapped->place.known()) {
        observation.place = wrapped->place;
        for (model::Subject& subject : observation.subjects)
            subject.place = wrapped->place;
    }
    const std::string& promise = finding.history->promise;
    observation.attributes = {
        {"loaded", yes_no(loaded_before_start(finding))},
        {"seeds", seed_relation(seeds_of(*finding.first_bad))},
        {"tensors", describe_tensors(finding.tensors)},
        {"differing", finding.tensors ? std::to_string(finding.tensors->differing) : "some"},
        {"total", std::to_string(finding.first_bad->members.front().digest->tensors)},
        {"tie", yes_no(finding.sides.tie)},
        {"others", knowledge::describe_ranks(ranks_of(finding.sides.majority))},
        {"promise", promise.empty() ? "none" : promise},
        {"wrapper", wrapped == nullptr ? "none" : wrapped->wrapper}};
    observations.push_back(std::move(observation));
}

void add_gradients(const std::vector<History>& all, const DivergenceFinding& finding,
                   Observations& observations) {
    const bool differ =
        finding.gradients != GradientState::kEqual && finding.gradients != GradientState::kUnknown;
    const History* gradients = sibling(all, *finding.history, INQUEST_PART_GRADIENTS);
    if (!differ || gradients == nullptr) return;
    const int64_t number = std::max<int64_t>(finding.first_bad->at.step, 1);
    const Comparison* comparison = gradients->find(number, INQUEST_SITE_STEP);
    if (comparison == nullptr) return;
    const Sides sides = sides_of(*comparison);
    const auto& found = finding.gradient_tensors;
    Observation observation = about("gradients_differ", finding, sides.off);
    observation.attributes = {{"step", std::to_string(number)},
                              {"size", gradient_state_name(finding.gradients)},
                              {"relative", found ? relative_text(found->relative) : "unknown"},
                              {"tensors", describe_tensors(found)},
                              {"others", knowledge::describe_ranks(ranks_of(sides.majority))}};
    for (const DigestOf& member : comparison->members) {
        if (observation.evidence.size() == kEvidencePerFact) break;
        observation.evidence.push_back({member.digest->source, member.view->rank->rank,
                                        member.digest->wall_ns,
                                        fmt::format("digest {:016x}{:016x} of the gradients for step {}",
                                                    member.digest->high, member.digest->low, number)});
    }
    observations.push_back(std::move(observation));
}

void add_hyperparameters(const std::vector<History>& all, const DivergenceFinding& finding,
                         Observations& observations) {
    if (finding.hyperparameters_equal.value_or(true)) return;
    const History* settings = sibling(all, *finding.history, INQUEST_PART_HYPERPARAMETERS);
    const Comparison* comparison = settings->find(finding.first_bad->at.step, finding.first_bad->at.site);
    Observation observation = about("hyperparameters_differ", finding, sides_of(*comparison).off);
    observation.attributes = {{"step", std::to_string(finding.first_bad->at.step)}};
    observations.push_back(std::move(observation));
}

void add_statistics(const DivergenceFinding& finding, Observations& observations) {
    if (finding.history->part != INQUEST_PART_BUFFERS) return;
    Observation observation = about("statistics_differ", finding, finding.sides.off);
    const auto& flags = finding.sides.off.front().view->rank->replica.flags;
    const model::WrappedModel* wrapped = wrapped_model(*finding.sides.off.front().view);
    if (wrapped != nullptr) observation.place = wrapped->place;
    observation.attributes = {
        {"batch_norms", flags.empty() ? "unknown" : std::to_string(flags.back().batch_norms)},
        {"wrapper", wrapped == nullptr ? "none" : wrapped->wrapper},
        {"tensors", describe_tensors(finding.tensors)}};
    observations.push_back(std::move(observation));
}

// Which batches the ranks read for the step that led to the first bad checkpoint.
void add_batches(const DivergenceFinding& finding, Observations& observations) {
    std::map<std::pair<uint64_t, int64_t>, std::set<uint64_t>> digests;
    std::map<std::pair<uint64_t, int64_t>, size_t> counts;
    for (const DigestOf& member : finding.first_bad->members) {
        for (const model::Batch& batch : member.view->rank->replica.batches) {
            digests[{batch.loader, batch.step}].insert(batch.digest);
            ++counts[{batch.loader, batch.step}];
        }
    }
    size_t compared = 0;
    size_t equal = 0;
    for (const auto& [key, values] : digests) {
        if (counts[key] < 2) continue;
        compared += 1;
        equal += values.size() < counts[key] ? 1 : 0;
    }
    if (compared == 0) return;
    Observation observation = about("batches_compared", finding, finding.first_bad->members);
    observation.attributes = {{"relation", equal == compared ? "equal"
                                           : equal == 0      ? "disjoint"
                                                             : "some_equal"},
                              {"compared", std::to_string(compared)}};
    observations.push_back(std::move(observation));
}

}  // namespace

Observations detect_reasons(const StepView& step, const std::vector<History>& histories,
                            const DivergenceFinding& finding) {
    Observations observations;
    add_statistics(finding, observations);
    if (finding.history->part != INQUEST_PART_PARAMETERS) return observations;
    if (finding.first_bad->at.site == INQUEST_SITE_START) {
        add_initial_weights(finding, observations);
        add_loads(finding, observations);
        add_seeds(finding, observations);
        add_generators(finding, observations);
    }
    add_gradients(histories, finding, observations);
    add_hyperparameters(histories, finding, observations);
    add_batches(finding, observations);
    for (Observation& reason : detect_step_reasons(step, finding))
        observations.push_back(std::move(reason));
    return observations;
}

}  // namespace inquest::detect
