// What a rank recorded about the state that it trains, so that replicas can be compared: digests at
// checkpoints and what tells the reasons of a difference apart. Passive data from the digests ring and the
// tensor table (spank/format/black_box.h, spank/format/tensor_table.h).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/source.h"
#include "spank/format/black_box.h"
#include "spank/format/tensor_table.h"

namespace inquest::model {

using WallNs = int64_t;

// A moment at which state was looked at. Ranks are compared at equal moments only.
struct Checkpoint {
    int64_t optimizer = 0;  // ordinal, from 1 in the order of first steps
    int64_t step = 0;       // completed steps of that optimizer; of gradients the coming step
    inquest_site site = INQUEST_SITE_STEP;
};

struct StateDigest {
    Checkpoint at;
    inquest_part part = INQUEST_PART_PARAMETERS;
    uint64_t low = 0;
    uint64_t high = 0;
    int64_t tensors = 0;
    int64_t table = -1;      // number of the first entry in the tensor table, -1: not there
    std::vector<int> ranks;  // global ranks whose value must be, or may have to be, equal
    std::string promise;     // who promises it; empty: nobody
    std::string optimizer_class;
    Place place;
    WallNs wall_ns = 0;
    SourceRef source;
};

struct GradientNorm {
    Checkpoint at;
    double norm = 0;
    SourceRef source;
};

struct RandomState {
    Checkpoint at;
    uint64_t torch_seed = 0;  // of all five: 0 is "not known"
    uint64_t torch = 0;
    uint64_t python = 0;
    uint64_t numpy = 0;
    uint64_t device = 0;
    SourceRef source;
};

struct ModelMode {
    Checkpoint at;
    bool train = true;
};

struct Batch {
    uint64_t loader = 0;  // ordinal
    int64_t index = 0;    // in its pass, from 0
    int64_t samples = 0;
    uint64_t digest = 0;
    int64_t step = 0;  // completed optimizer steps of the process
    WallNs wall_ns = 0;
    SourceRef source;
};

// The smallest hashes of the samples read in a pass: equal samples have equal hashes on all ranks.
struct SampleSketch {
    uint64_t loader = 0;
    int64_t pass = 0;  // over that loader, from 1
    int64_t read = 0;
    int64_t index = 0;  // of this part of the sketch
    std::vector<uint64_t> hashes;
    WallNs wall_ns = 0;
    SourceRef source;
};

// A pass over a sampler began. -1: the sampler has no such attribute.
struct SamplerPass {
    uint64_t loader = 0;
    std::string sampler;
    int64_t seed = -1;
    int64_t epoch = -1;
    int64_t replicas = -1;
    int64_t replica = -1;
    int64_t shuffle = -1;
    int64_t samples = -1;  // that it yields in a pass
    int64_t dataset = -1;
    Place place;
    WallNs wall_ns = 0;
    SourceRef source;
};

struct ModelFlags {
    std::string wrapper;
    std::string model;
    std::vector<int> ranks;  // that hold a replica
    bool broadcast_buffers = false;
    int64_t batch_norms = 0;  // with running statistics that nothing synchronises while training
    int64_t sync_batch_norms = 0;
    bool init_sync = false;
    bool comm_hook = false;  // the program replaced the reduction of the gradients
    SourceRef source;
};

struct ScalerSkip {
    int64_t step = 0;
    double scale = 0;
    WallNs wall_ns = 0;
    SourceRef source;
};

struct TensorName {
    std::string name;
    std::string dtype;
    std::string shape;
    bool running_statistic = false;
};

struct TensorDigest {
    uint64_t low = 0;
    uint64_t high = 0;
    std::array<uint16_t, INQUEST_TABLE_LANES> lanes{};
    double norm = 0;  // NaN: no floating-point tensor
};

struct TensorTable {
    // By optimizer ordinal and part, then by the tensor's index within the part.
    std::map<std::pair<int64_t, int>, std::map<int64_t, TensorName>> names;
    std::map<uint64_t, TensorDigest> entries;  // by number
    SourceRef source;
};

struct ReplicaRecords {
    std::vector<StateDigest> digests;
    std::vector<GradientNorm> gradient_norms;
    std::vector<RandomState> random_states;
    std::vector<ModelMode> modes;
    std::vector<Batch> batches;
    std::vector<SampleSketch> sketches;
    std::vector<SamplerPass> samplers;
    std::vector<ModelFlags> flags;
    std::vector<ScalerSkip> skips;
    std::optional<TensorTable> table;
};

}  // namespace inquest::model
