#include "analyzer/knowledge/hypothesis.h"

#include <algorithm>
#include <optional>

namespace inquest::knowledge {
namespace {

using model::Confidence;
using model::Observation;

// Failures of several ranks at one place within this time are one event.
constexpr int64_t kSameEventNs = 5'000'000'000;

// Observations that are one event with `first`: same fact, same place, same attributes that matter, close in
// time. A shared bug makes every rank fail alike; then all of them initiate.
bool same_event(const Observation& first, const Observation& other) {
    const auto type_of = [](const Observation& observation) {
        const auto found = observation.attributes.find("type");
        return found == observation.attributes.end() ? std::string() : found->second;
    };
    const bool close =
        first.wall_ns == 0 || other.wall_ns == 0 || std::abs(first.wall_ns - other.wall_ns) <= kSameEventNs;
    return close && first.place.known() && first.place.file == other.place.file &&
           first.place.line == other.place.line && type_of(first) == type_of(other);
}

void absorb(Observation& merged, const Observation& other) {
    for (const model::Subject& subject : other.subjects) {
        const bool present =
            std::any_of(merged.subjects.begin(), merged.subjects.end(),
                        [&](const model::Subject& mine) { return mine.rank && mine.rank == subject.rank; });
        if (!present) merged.subjects.push_back(subject);
    }
    merged.evidence.insert(merged.evidence.end(), other.evidence.begin(), other.evidence.end());
    std::stable_sort(merged.subjects.begin(), merged.subjects.end(),
                     [](const model::Subject& a, const model::Subject& b) {
                         return a.rank.value_or(-1) < b.rank.value_or(-1);
                     });
}

Observation merge_event(const ObservationRefs& candidates, const Observation& first) {
    Observation merged = first;
    for (const Observation* candidate : candidates) {
        if (candidate != &first && same_event(first, *candidate)) absorb(merged, *candidate);
    }
    return merged;
}

// Earliest of the candidates; those without a time come after those with one, otherwise in given order.
const Observation* earliest(const ObservationRefs& candidates) {
    const auto key = [](const Observation* observation) {
        const bool timed = observation->wall_ns != 0;
        return std::make_pair(timed ? 0 : 1, timed ? observation->wall_ns : observation->log_order);
    };
    return *std::min_element(candidates.begin(), candidates.end(),
                             [&](const Observation* a, const Observation* b) { return key(a) < key(b); });
}

bool holds(const Rule& rule, const Observations& observations, const Observation* subject,
           ObservationRefs& proofs) {
    const auto matches = [&](const Condition& condition) {
        return find_all(observations, condition, subject);
    };
    for (const Condition& condition : rule.all) {
        const ObservationRefs found = matches(condition);
        if (found.empty()) return false;
        proofs.insert(proofs.end(), found.begin(), found.end());
    }
    bool any = rule.any.empty();
    for (const Condition& condition : rule.any) {
        const ObservationRefs found = matches(condition);
        any = any || !found.empty();
        proofs.insert(proofs.end(), found.begin(), found.end());
    }
    const bool excluded = std::any_of(rule.none.begin(), rule.none.end(), [&](const Condition& condition) {
        return !matches(condition).empty();
    });
    return any && !excluded;
}

Confidence shifted(Confidence confidence, int steps) {
    const int value = std::clamp(static_cast<int>(confidence) + steps, 1, 3);
    return static_cast<Confidence>(value);
}

bool any_with_weight(const std::vector<Condition>& conditions, Weight weight,
                     const Observations& observations, const Observation& subject) {
    return std::any_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
        return condition.weight == weight && !find_all(observations, condition, &subject).empty();
    });
}

void weigh(Hypothesis& hypothesis, const Observations& observations) {
    hypothesis.confidence = hypothesis.rule->confidence;
    if (hypothesis.confidence == Confidence::kUnknown) return;
    const Cause& cause = *hypothesis.cause;
    if (any_with_weight(cause.evidence_for, Weight::kStrengthen, observations, hypothesis.subject)) {
        hypothesis.confidence = shifted(hypothesis.confidence, 1);
    }
    if (any_with_weight(cause.evidence_against, Weight::kWeaken, observations, hypothesis.subject)) {
        hypothesis.confidence = shifted(hypothesis.confidence, -1);
    }
}

std::optional<Hypothesis> try_rule(const Cause& cause, const Rule& rule, const Observations& observations) {
    Hypothesis hypothesis;
    hypothesis.cause = &cause;
    hypothesis.rule = &rule;
    if (!rule.subject) {
        if (!holds(rule, observations, nullptr, hypothesis.proofs)) return std::nullopt;
        return hypothesis;
    }
    ObservationRefs candidates;
    for (const Observation* candidate : find_all(observations, *rule.subject, nullptr)) {
        ObservationRefs proofs;
        if (holds(rule, observations, candidate, proofs)) candidates.push_back(candidate);
    }
    if (candidates.empty()) return std::nullopt;
    const Observation* first = earliest(candidates);
    holds(rule, observations, first, hypothesis.proofs);
    hypothesis.subject = merge_event(candidates, *first);
    weigh(hypothesis, observations);
    return hypothesis;
}

bool proven(const Hypothesis& hypothesis) {
    return hypothesis.confidence >= Confidence::kLikely;
}

bool same_culprits(const Hypothesis& a, const Hypothesis& b) {
    return a.subject.subjects.empty() || b.subject.subjects.empty() || shares_a_rank(a.subject, b.subject);
}

// How the step ended by this hypothesis.
std::string end_of(const Hypothesis& hypothesis) {
    if (hypothesis.rule->end != "observed") return hypothesis.rule->end;
    const auto found = hypothesis.subject.attributes.find("at_end");
    return found == hypothesis.subject.attributes.end() ? "unknown" : found->second;
}

bool failed(const Hypothesis& hypothesis) {
    const std::string end = end_of(hypothesis);
    return end == "hang" || end == "crash" || end == "exit";
}

// Something that a program outlives happened earlier than what ended it and does not explain it.
std::vector<Hypothesis> without_those_that_yield(std::vector<Hypothesis> all) {
    const bool any_failure = std::any_of(all.begin(), all.end(), [](const Hypothesis& hypothesis) {
        return proven(hypothesis) && !hypothesis.cause->yields && failed(hypothesis);
    });
    if (!any_failure) return all;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](const Hypothesis& hypothesis) { return hypothesis.cause->yields; }),
              all.end());
    return all;
}

// Order without regard to specificity: proven first, then time, then confidence.
bool comes_first(const Hypothesis& a, const Hypothesis& b) {
    if (proven(a) != proven(b)) return proven(a);
    if (happened_before(a.subject, b.subject)) return true;
    if (happened_before(b.subject, a.subject)) return false;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.cause->specificity > b.cause->specificity;
}

Hypothesis fall_back(const Knowledge& knowledge, const Observations& observations) {
    const Cause& cause = knowledge.fallback();
    for (const Rule& rule : cause.rules) {
        if (auto hypothesis = try_rule(cause, rule, observations)) return *hypothesis;
    }
    Hypothesis last;
    last.cause = &cause;
    last.rule = &cause.rules.back();
    return last;
}

}  // namespace

std::vector<Hypothesis> find_hypotheses(const Knowledge& knowledge, const Observations& observations) {
    std::vector<Hypothesis> found;
    for (const Cause& cause : knowledge.causes) {
        if (cause.fallback) continue;
        for (const Rule& rule : cause.rules) {
            if (auto hypothesis = try_rule(cause, rule, observations))
                found.push_back(std::move(*hypothesis));
        }
    }
    return found;
}

Hypothesis choose_root(const Knowledge& knowledge, const Observations& observations) {
    const std::vector<Hypothesis> all = without_those_that_yield(find_hypotheses(knowledge, observations));
    if (all.empty()) return fall_back(knowledge, observations);
    const auto first = std::min_element(all.begin(), all.end(), comes_first);
    const Hypothesis* root = &*first;
    for (const Hypothesis& other : all) {
        if (proven(other) != proven(*first) || !same_culprits(other, *first)) continue;
        if (other.cause->specificity > root->cause->specificity) root = &other;
    }
    return *root;
}

}  // namespace inquest::knowledge
