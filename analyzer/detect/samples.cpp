// Whether ranks that shard a data set between them read disjoint parts: samplers_differ, samples_overlap.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;
using model::SamplerPass;

// Common samples that may be chance or a repeated last batch: fewer say nothing.
constexpr size_t kFewestShared = 4;
// Of the samples that two sketches could have in common.
constexpr double kSmallestShare = 0.10;
// Of the samples that a rank read: distinct ones, with room for the error of the estimate.
constexpr double kDistinctShare = 0.5;

struct PassOf {
    const RankView* view = nullptr;
    const SamplerPass* pass = nullptr;
    int64_t number = 0;  // of the pass over this loader, from 1
};

// Passes that ranks make over the same data set together: loader, number, class, sizes.
using PassKey = std::tuple<uint64_t, int64_t, std::string, int64_t, int64_t>;
using Passes = std::map<PassKey, std::vector<PassOf>>;

bool is_sharded(const SamplerPass& pass) {
    return pass.replicas > 1 && pass.replica >= 0;
}

Passes sharded_passes(const StepView& step) {
    Passes passes;
    for (const RankView& view : step.ranks) {
        std::map<uint64_t, int64_t> numbers;
        for (const SamplerPass& pass : view.rank->replica.samplers) {
            const int64_t number = ++numbers[pass.loader];
            if (!is_sharded(pass)) continue;
            passes[{pass.loader, number, pass.sampler, pass.replicas, pass.dataset}].push_back(
                {&view, &pass, number});
        }
    }
    return passes;
}

// Where groups of ranks work on one sample (tensor parallelism), they read the same shard on purpose.
bool has_one_shard_each(const std::vector<PassOf>& members) {
    return static_cast<int64_t>(members.size()) <= members.front().pass->replicas;
}

std::vector<int> ranks_of(const std::vector<PassOf>& members) {
    std::vector<int> ranks;
    ranks.reserve(members.size());
    for (const PassOf& member : members)
        ranks.push_back(*member.view->rank->rank);
    return ranks;
}

struct Groups {
    std::vector<PassOf> off;       // the minority, or everybody
    std::vector<PassOf> majority;  // may be empty
    std::string values;            // "ranks 0-2: 7; rank 3: 8"
};

Groups split_by(const std::vector<PassOf>& members, int64_t SamplerPass::*attribute) {
    std::map<int64_t, std::vector<PassOf>> groups;
    for (const PassOf& member : members)
        groups[member.pass->*attribute].push_back(member);
    const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    const bool majority = most->second.size() * 2 > members.size();
    Groups result;
    std::vector<std::string> texts;
    for (const auto& [value, side] : groups) {
        texts.push_back(fmt::format("{}: {}", knowledge::describe_ranks(ranks_of(side)), value));
        auto& list = majority && value == most->first ? result.majority : result.off;
        list.insert(list.end(), side.begin(), side.end());
    }
    std::sort(result.off.begin(), result.off.end(),
              [](const PassOf& a, const PassOf& b) { return *a.view->rank->rank < *b.view->rank->rank; });
    result.values = fmt::format("{}", fmt::join(texts, "; "));
    return result;
}

Observation about(const std::string& fact, const std::vector<PassOf>& members) {
    Observation observation;
    observation.fact = fact;
    for (const PassOf& member : members) {
        observation.subjects.push_back(subject_of(*member.view, member.pass->place));
        observation.evidence.push_back(
            {member.pass->source, member.view->rank->rank, member.pass->wall_ns,
             fmt::format("{} with seed {}, epoch {}, replica {} of {}", member.pass->sampler,
                         member.pass->seed, member.pass->epoch, member.pass->replica,
                         member.pass->replicas)});
    }
    observation.place = members.front().pass->place;
    observation.wall_ns = members.front().pass->wall_ns;
    for (const PassOf& member : members)
        observation.wall_ns = std::min(observation.wall_ns, member.pass->wall_ns);
    model::Divergence divergence;
    divergence.part = "samples";
    divergence.ranks = ranks_of(members);
    observation.divergence = divergence;
    return observation;
}

bool differs(const std::vector<PassOf>& members, int64_t SamplerPass::*attribute) {
    return std::any_of(members.begin(), members.end(), [&](const PassOf& member) {
        return member.pass->*attribute != members.front().pass->*attribute;
    });
}

bool shuffles(const std::vector<PassOf>& members) {
    return std::any_of(members.begin(), members.end(),
                       [](const PassOf& member) { return member.pass->shuffle != 0; });
}

Observation sampler_difference(const char* aspect, const std::vector<PassOf>& members, const Groups& groups) {
    Observation observation = about("samplers_differ", groups.off);
    observation.attributes = {{"aspect", aspect},
                              {"values", groups.values},
                              {"sampler", members.front().pass->sampler},
                              {"others", knowledge::describe_ranks(ranks_of(groups.majority))},
                              {"replicas", std::to_string(members.front().pass->replicas)}};
    observation.divergence->tie = groups.majority.empty() && members.size() == 2;
    return observation;
}

// As many ranks as shards, and two of them read the same one.
bool add_shared_shard(const std::vector<PassOf>& members, Observations& observations) {
    std::set<int64_t> shards;
    for (const PassOf& member : members)
        shards.insert(member.pass->replica);
    const bool one_each = static_cast<int64_t>(members.size()) == members.front().pass->replicas;
    if (!one_each || shards.size() == members.size()) return false;
    Groups groups = split_by(members, &SamplerPass::replica);
    groups.off = members;
    groups.majority.clear();
    observations.push_back(sampler_difference("replica", members, groups));
    return true;
}

bool add_sampler(const std::vector<PassOf>& members, Observations& observations) {
    const std::array<std::pair<const char*, int64_t SamplerPass::*>, 2> attributes = {
        {{"seed", &SamplerPass::seed}, {"epoch", &SamplerPass::epoch}}};
    for (const auto& [name, attribute] : attributes) {
        if (!shuffles(members) || !differs(members, attribute)) continue;
        observations.push_back(sampler_difference(name, members, split_by(members, attribute)));
        return true;
    }
    return add_shared_shard(members, observations);
}

struct Sketch {
    std::set<uint64_t> hashes;
    int64_t read = 0;
};

// The newest sketch of a pass: every write repeats all of it that is known by then.
Sketch sketch_of(const PassOf& member) {
    Sketch newest;
    for (const model::SampleSketch& sketch : member.view->rank->replica.sketches) {
        const bool mine = sketch.loader == member.pass->loader && sketch.pass == member.number;
        if (mine) newest.read = std::max(newest.read, sketch.read);
    }
    for (const model::SampleSketch& sketch : member.view->rank->replica.sketches) {
        const bool mine = sketch.loader == member.pass->loader && sketch.pass == member.number;
        const bool newest_write = mine && sketch.read == newest.read;
        if (newest_write) newest.hashes.insert(sketch.hashes.begin(), sketch.hashes.end());
    }
    return newest;
}

// Equal contents have equal hashes: where one rank's own samples repeat, common hashes say nothing. The
// largest of k smallest hashes tells how many distinct ones there are (k minimum values).
bool has_distinct_samples(const Sketch& sketch) {
    const auto size = static_cast<double>(sketch.hashes.size());
    if (sketch.hashes.empty() || sketch.read <= 0) return false;
    if (size < INQUEST_SAMPLES_PER_RECORD * INQUEST_SAMPLES_RECORDS) {
        return size >= kDistinctShare * static_cast<double>(sketch.read);
    }
    const double reached = static_cast<double>(*sketch.hashes.rbegin()) / static_cast<double>(UINT64_MAX);
    return reached <= 0 || (size - 1) / reached >= kDistinctShare * static_cast<double>(sketch.read);
}

// Samples that a sampler repeats to give all ranks equally many.
int64_t repeated(const SamplerPass& pass) {
    if (pass.dataset <= 0 || pass.samples <= 0) return 0;
    return std::max<int64_t>(pass.samples * pass.replicas - pass.dataset, 0);
}

struct Overlap {
    std::vector<PassOf> members;  // that share samples with another shard
    size_t shared = 0;
    size_t compared = 0;
};

Overlap overlap_of(const std::vector<PassOf>& members) {
    Overlap overlap;
    std::vector<std::set<uint64_t>> sketches;
    sketches.reserve(members.size());
    for (const PassOf& member : members) {
        Sketch sketch = sketch_of(member);
        if (!has_distinct_samples(sketch)) return {};
        sketches.push_back(std::move(sketch.hashes));
    }
    for (size_t one = 0; one < members.size(); ++one) {
        size_t shared = 0;
        for (const uint64_t hash : sketches[one]) {
            bool elsewhere = false;
            for (size_t other = 0; other < members.size(); ++other)
                elsewhere = elsewhere || (other != one && sketches[other].count(hash) != 0);
            shared += elsewhere ? 1 : 0;
        }
        if (shared > 0) overlap.members.push_back(members[one]);
        overlap.shared += shared;
        overlap.compared += sketches[one].size();
    }
    return overlap;
}

bool is_striking(const Overlap& overlap, const SamplerPass& pass) {
    const auto expected = static_cast<size_t>(repeated(pass));
    return overlap.shared >= 2 * kFewestShared + 2 * expected &&
           static_cast<double>(overlap.shared) > kSmallestShare * static_cast<double>(overlap.compared);
}

bool add_overlap(const std::vector<PassOf>& members, Observations& observations) {
    const Overlap overlap = overlap_of(members);
    if (!is_striking(overlap, *members.front().pass)) return false;
    Observation observation = about("samples_overlap", overlap.members);
    const double percent =
        100.0 * static_cast<double>(overlap.shared) / static_cast<double>(overlap.compared);
    observation.attributes = {{"overlap_percent", fmt::format("{:.0f}", percent)},
                              {"shared", std::to_string(overlap.shared)},
                              {"compared", std::to_string(overlap.compared)},
                              {"sampler", members.front().pass->sampler},
                              {"replicas", std::to_string(members.front().pass->replicas)},
                              {"others", knowledge::describe_ranks(ranks_of(members))}};
    observations.push_back(std::move(observation));
    return true;
}

}  // namespace

Observations detect_samples(const StepView& step) {
    Observations observations;
    bool sampler_told = false;
    bool overlap_told = false;
    for (const auto& [key, members] : sharded_passes(step)) {
        if (members.size() < 2) continue;
        if (!sampler_told) sampler_told = add_sampler(members, observations);
        if (!overlap_told && has_one_shard_each(members)) overlap_told = add_overlap(members, observations);
    }
    return observations;
}

}  // namespace inquest::detect
