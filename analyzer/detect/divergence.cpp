// That replicas differ, since when and where: replicas_differ, and for each what its parts say.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/detect/detect.h"
#include "analyzer/detect/divergence_reasons.h"
#include "analyzer/detect/divergence_words.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;

// A difference that is this much larger later on grows.
constexpr double kGrowth = 2.0;
constexpr size_t kDigestsTold = 4;

const char* agreement_name(Agreement agreement) {
    switch (agreement) {
        case Agreement::kPromise:
            return "promise";
        case Agreement::kGradients:
            return "gradients";
        case Agreement::kParameters:
            return "parameters";
        case Agreement::kEarlier:
            return "earlier";
    }
    return "promise";
}

std::vector<model::Subject> subjects_of(const std::vector<DigestOf>& members) {
    std::vector<model::Subject> subjects;
    subjects.reserve(members.size());
    for (const DigestOf& member : members)
        subjects.push_back(subject_of(*member.view, member.digest->place));
    return subjects;
}

bool grows(const DivergenceFinding& finding) {
    const auto& sizes = finding.sizes;
    return sizes.size() > 1 && sizes.front().second > 0 &&
           sizes.back().second > kGrowth * sizes.front().second;
}

model::Evidence digest_evidence(const DigestOf& member, inquest_part part) {
    const model::StateDigest& digest = *member.digest;
    return {digest.source, member.view->rank->rank, digest.wall_ns,
            fmt::format("digest {:016x}{:016x} of {} tensors ({}) of optimizer {} {} step {}", digest.high,
                        digest.low, digest.tensors, part_name(part), digest.at.optimizer,
                        digest.at.site == INQUEST_SITE_START ? "before its first step, after" : "after",
                        digest.at.step)};
}

std::vector<model::Evidence> digests_told(const DivergenceFinding& finding) {
    std::vector<model::Evidence> evidence;
    const inquest_part part = finding.history->part;
    if (!finding.sides.majority.empty())
        evidence.push_back(digest_evidence(finding.sides.majority.front(), part));
    for (const DigestOf& member : finding.sides.off) {
        if (evidence.size() == kDigestsTold) break;
        evidence.push_back(digest_evidence(member, part));
    }
    return evidence;
}

model::Divergence numbers_of(const DivergenceFinding& finding) {
    model::Divergence divergence;
    divergence.part = part_name(finding.history->part);
    divergence.optimizer = finding.history->optimizer;
    divergence.first_bad_step = finding.first_bad->at.step;
    if (finding.last_good != nullptr) divergence.last_good_step = finding.last_good->at.step;
    if (finding.tensors) divergence.tensors = finding.tensors->names;
    divergence.ranks = ranks_of(finding.sides.off);
    divergence.tie = finding.sides.tie;
    divergence.growth = describe_growth(finding);
    return divergence;
}

void add_sizes(const DivergenceFinding& finding, Observation& observation) {
    auto& attributes = observation.attributes;
    const auto& tensors = finding.tensors;
    const std::string growth = describe_growth(finding);
    attributes["tensors"] = describe_tensors(tensors);
    attributes["differing"] = tensors ? std::to_string(tensors->differing) : "unknown";
    attributes["total"] = std::to_string(finding.first_bad->members.front().digest->tensors);
    attributes["lanes"] = tensors ? std::to_string(tensors->most_lanes) : "unknown";
    attributes["isolated"] = tensors ? yes_no(tensors->isolated) : "unknown";
    attributes["tiny"] = tensors ? yes_no(tensors->tiny) : "unknown";
    attributes["relative"] = tensors ? relative_text(tensors->relative) : "unknown";
    attributes["growth"] = growth.empty() ? "unknown" : growth;
    attributes["grows"] = yes_no(grows(finding));
}

void add_sides(const DivergenceFinding& finding, Observation& observation) {
    auto& attributes = observation.attributes;
    const std::string& promise = finding.history->promise;
    attributes["promise"] = promise.empty() ? "none" : promise;
    attributes["agreement"] = agreement_name(finding.agreement);
    attributes["tie"] = yes_no(finding.sides.tie);
    attributes["all_differ"] = yes_no(finding.sides.all_differ);
    attributes["others"] = knowledge::describe_ranks(ranks_of(finding.sides.majority));
    attributes["first"] = first_difference(finding);
    attributes["gradients"] = gradient_state_name(finding.gradients);
    attributes["hyperparameters"] = equal_text(finding.hyperparameters_equal);
    attributes["optimizer_state"] = equal_text(finding.optimizer_state_equal);
}

Observation replicas_differ(const DivergenceFinding& finding) {
    Observation observation;
    const model::Checkpoint& bad = finding.first_bad->at;
    observation.fact = "replicas_differ";
    observation.subjects = subjects_of(finding.sides.off);
    observation.place = finding.sides.off.front().digest->place;
    observation.wall_ns = finding.first_bad->wall_ns();
    observation.attributes = {
        {"part", part_name(finding.history->part)},
        {"first_bad_step", std::to_string(bad.step)},
        {"last_good_step",
         finding.last_good == nullptr ? "none" : std::to_string(finding.last_good->at.step)},
        {"when", describe_moment(finding)},
        {"site", bad.site == INQUEST_SITE_START ? "start" : "step"}};
    add_sizes(finding, observation);
    add_sides(finding, observation);
    observation.evidence = digests_told(finding);
    observation.divergence = numbers_of(finding);
    return observation;
}

}  // namespace

Observations detect_divergence(const StepView& step) {
    Observations observations;
    const std::vector<History> histories = collect_histories(step);
    for (const DivergenceFinding& finding : find_divergences(step, histories)) {
        observations.push_back(replicas_differ(finding));
        for (model::Observation& reason : detect_reasons(step, histories, finding))
            observations.push_back(std::move(reason));
    }
    return observations;
}

}  // namespace inquest::detect
