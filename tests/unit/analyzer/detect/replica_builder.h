// Builds timelines of jobs that train replicas: steps with digests of weights, gradients and statistics,
// tensor tables, samplers and losses. Every rank starts healthy; tests change single ranks.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/analyzer/detect/timeline_builder.h"

namespace inquest::test {

class ReplicaBuilder {
 public:
    static constexpr int kTensors = 8;

    // `promise` empty: nobody promises; then the ranks reduce by hand.
    ReplicaBuilder(int world_size, std::string promise) : build_(world_size), promise_(std::move(promise)) {
        for (int rank = 0; rank < world_size; ++rank) {
            members_.push_back(rank);
            name_tensors(rank);
            if (promise_.empty()) continue;
            model::WrappedModel wrapped;
            wrapped.wrapper = promise_;
            wrapped.place = line(20);
            build_.of(rank).models.push_back(wrapped);
        }
    }

    // A value for all tensors of a part; tensors in `odd` get another one.
    struct State {
        uint64_t value = 1;
        std::set<int> odd;
        int lanes = 16;         // that differ in the odd tensors
        double distance = 0.1;  // of the norms of the odd tensors; all have norm 1
        int64_t extra = 0;      // tensors more than usual, without entries in the table
    };

    ReplicaBuilder& digest(int rank, inquest_part part, int64_t step, const State& state,
                           inquest_site site = INQUEST_SITE_STEP, int64_t optimizer = 1) {
        model::Rank& of = build_.of(rank);
        model::StateDigest digest;
        digest.at = {optimizer, step, site};
        digest.part = part;
        digest.low = state.value + 1000 * state.odd.size() + (state.odd.empty() ? 0 : *state.odd.begin());
        digest.tensors = part == INQUEST_PART_HYPERPARAMETERS ? 0 : kTensors + state.extra;
        digest.table = static_cast<int64_t>(of.replica.table->entries.size());
        digest.ranks = members_;
        digest.promise = promise_;
        digest.place = line(62);
        digest.wall_ns = at(10 + static_cast<double>(step) + 0.1 * static_cast<int>(part));
        digest.source = {"n1/box-" + std::to_string(rank), "digests"};
        if (digest.tensors > 0) add_entries(*of.replica.table, state);
        of.replica.digests.push_back(digest);
        return *this;
    }

    using Change = std::function<void(int rank, int64_t step, inquest_part part, State& state)>;

    // Checkpoints of all ranks at the start and after these steps; `change` makes single ones different.
    ReplicaBuilder& train(const std::vector<int64_t>& steps, const Change& change = {}) {
        for (int rank = 0; rank < world(); ++rank) {
            checkpoint(rank, 0, INQUEST_SITE_START, change);
            for (const int64_t step : steps) {
                take(rank, step, INQUEST_PART_GRADIENTS, INQUEST_SITE_STEP, change);
                checkpoint(rank, step, INQUEST_SITE_STEP, change);
                this->step(rank, step, 1);
            }
            if (promise_.empty()) build_.call(rank, "all_reduce", 31, 9, 9.1);
            build_.ends(rank, 0, 500);
        }
        return *this;
    }

    // The newest STEP record with this number, or a new one.
    model::OptimizerStep& step(int rank, int64_t number, int64_t micro_batches) {
        auto& steps = build_.of(rank).steps;
        for (model::OptimizerStep& known : steps) {
            if (known.optimizer_step != number) continue;
            known.micro_batches = micro_batches;
            return known;
        }
        model::OptimizerStep made;
        made.step = made.optimizer_step = number;
        made.optimizer = 1;
        made.micro_batches = micro_batches;
        made.wrapped = promise_.empty() ? 0 : micro_batches;
        made.wall_ns = at(10 + static_cast<double>(number));
        made.place = line(62);
        steps.push_back(made);
        return steps.back();
    }

    ReplicaBuilder& seed(int rank, uint64_t seed) {
        model::RandomState state;
        state.at = {1, 0, INQUEST_SITE_START};
        state.torch_seed = seed;
        build_.of(rank).replica.random_states.push_back(state);
        return *this;
    }

    ReplicaBuilder& sampler(int rank, int64_t seed, int64_t replica, const std::vector<uint64_t>& hashes) {
        model::SamplerPass pass;
        pass.loader = 1;
        pass.sampler = "DistributedSampler";
        pass.seed = seed;
        pass.epoch = 0;
        pass.replicas = world();
        pass.replica = replica;
        pass.shuffle = 1;
        pass.samples = static_cast<int64_t>(hashes.size());
        pass.dataset = pass.samples * world();
        pass.wall_ns = at(5);
        build_.of(rank).replica.samplers.push_back(pass);
        model::SampleSketch sketch;
        sketch.loader = 1;
        sketch.pass = 1;
        sketch.read = pass.samples;
        sketch.hashes = hashes;
        build_.of(rank).replica.sketches.push_back(sketch);
        return *this;
    }

    ReplicaBuilder& losses(int rank, double loss) {
        model::Backward backward;
        backward.loss = loss;
        backward.place = line(61);
        backward.begin_wall_ns = at(10);
        backward.end_wall_ns = at(10.1);
        build_.of(rank).backwards.push_back(backward);
        return *this;
    }

    int world() const { return static_cast<int>(members_.size()); }
    TimelineBuilder& build() { return build_; }
    model::Rank& of(int rank) { return build_.of(rank); }
    model::Timeline& timeline() { return build_.timeline(); }

 private:
    void checkpoint(int rank, int64_t step, inquest_site site, const Change& change) {
        for (const inquest_part part : {INQUEST_PART_PARAMETERS, INQUEST_PART_HYPERPARAMETERS})
            take(rank, step, part, site, change);
    }

    void take(int rank, int64_t step, inquest_part part, inquest_site site, const Change& change) {
        State state;
        state.value = static_cast<uint64_t>(1'000'000 * part + step);
        if (change) change(rank, step, part, state);
        digest(rank, part, step, state, site);
    }

    void name_tensors(int rank) {
        model::TensorTable table;
        for (const int part : {INQUEST_PART_PARAMETERS, INQUEST_PART_BUFFERS, INQUEST_PART_GRADIENTS}) {
            for (int index = 0; index < kTensors; ++index) {
                table.names[{1, part}][index] = {"layer" + std::to_string(index) + ".weight", "float32",
                                                 "64x32", part == INQUEST_PART_BUFFERS};
            }
        }
        build_.of(rank).replica.table = std::move(table);
    }

    static void add_entries(model::TensorTable& table, const State& state) {
        for (int index = 0; index < kTensors; ++index) {
            model::TensorDigest entry;
            const bool odd = state.odd.count(index) != 0;
            entry.low = state.value + (odd ? 500 : 0);
            entry.norm = odd ? 1 + state.distance : 1;
            for (int lane = 0; odd && lane < state.lanes; ++lane)
                entry.lanes[static_cast<size_t>(lane)] = 1;
            table.entries.emplace(table.entries.size(), entry);
        }
    }

    TimelineBuilder build_;
    std::string promise_;
    std::vector<int> members_;
};

inline std::set<int> all_tensors() {
    std::set<int> all;
    for (int index = 0; index < ReplicaBuilder::kTensors; ++index)
        all.insert(index);
    return all;
}

}  // namespace inquest::test
