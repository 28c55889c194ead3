#include "analyzer/evidence/replica_records.h"

#include <algorithm>
#include <bit>

namespace inquest::evidence {
namespace {

using Record = inquest_box_record;

uint64_t bits(const Record& record, int slot) {
    return static_cast<uint64_t>(record.number[slot]);
}

double as_double(const Record& record, int slot) {
    return std::bit_cast<double>(record.number[slot]);
}

std::optional<inquest_site> site_of(const Record& record) {
    const int64_t site = record.number[INQUEST_NUMBER_CHECKPOINT_SITE];
    if (site < INQUEST_SITE_START || site > INQUEST_SITE_END) return std::nullopt;
    return static_cast<inquest_site>(site);
}

std::optional<model::Checkpoint> checkpoint_of(const Record& record, RecordContext& context) {
    const auto site = site_of(record);
    const int64_t step = record.number[INQUEST_NUMBER_CHECKPOINT_STEP];
    if (!site || step < 0 || record.ident > INT64_MAX) {
        context.note("black box: impossible checkpoint");
        return std::nullopt;
    }
    return model::Checkpoint{static_cast<int64_t>(record.ident), step, *site};
}

void add_digest(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    const auto at = checkpoint_of(record, context);
    const int64_t part = record.number[INQUEST_NUMBER_DIGEST_PART];
    if (!at) return;
    if (part < INQUEST_PART_PARAMETERS || part > INQUEST_PART_HYPERPARAMETERS) {
        return context.note("black box: unknown part of the state");
    }
    model::StateDigest digest;
    digest.at = *at;
    digest.part = static_cast<inquest_part>(part);
    digest.low = bits(record, INQUEST_NUMBER_DIGEST_LOW);
    digest.high = bits(record, INQUEST_NUMBER_DIGEST_HIGH);
    digest.tensors = std::max<int64_t>(record.number[INQUEST_NUMBER_DIGEST_TENSORS], 0);
    digest.table = record.number[INQUEST_NUMBER_DIGEST_TABLE];
    digest.ranks = context.ranks(record, INQUEST_TEXT_DIGEST_RANKS);
    digest.promise = context.text(record, INQUEST_TEXT_DIGEST_PROMISE);
    digest.optimizer_class = context.text(record, INQUEST_TEXT_DIGEST_OPTIMIZER);
    digest.place = context.place(record);
    digest.wall_ns = context.wall(record);
    digest.source = context.source();
    replica.digests.push_back(std::move(digest));
}

void add_gradient_norm(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    if (const auto at = checkpoint_of(record, context)) {
        replica.gradient_norms.push_back(
            {*at, as_double(record, INQUEST_NUMBER_GRADIENT_NORM_BITS), context.source()});
    }
}

void add_random_state(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    const auto at = checkpoint_of(record, context);
    if (!at) return;
    replica.random_states.push_back(
        {*at, bits(record, INQUEST_NUMBER_RANDOM_TORCH_SEED), bits(record, INQUEST_NUMBER_RANDOM_TORCH),
         bits(record, INQUEST_NUMBER_RANDOM_PYTHON), bits(record, INQUEST_NUMBER_RANDOM_NUMPY),
         bits(record, INQUEST_NUMBER_RANDOM_DEVICE), context.source()});
}

void add_mode(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    if (const auto at = checkpoint_of(record, context)) {
        replica.modes.push_back({*at, record.number[INQUEST_NUMBER_MODE_TRAIN] != 0});
    }
}

void add_batch(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    replica.batches.push_back(
        {record.ident, record.number[INQUEST_NUMBER_BATCH_INDEX], record.number[INQUEST_NUMBER_BATCH_SAMPLES],
         bits(record, INQUEST_NUMBER_BATCH_DIGEST), record.number[INQUEST_NUMBER_BATCH_STEP],
         context.wall(record), context.source()});
}

void add_sketch(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    model::SampleSketch sketch;
    sketch.loader = record.ident;
    sketch.pass = record.number[INQUEST_NUMBER_SAMPLES_PASS];
    sketch.read = record.number[INQUEST_NUMBER_SAMPLES_READ];
    sketch.index = record.number[INQUEST_NUMBER_SAMPLES_INDEX];
    for (int slot = 0; slot < INQUEST_SAMPLES_PER_RECORD; ++slot) {
        const uint64_t hash = bits(record, INQUEST_NUMBER_SAMPLES_HASH + slot);
        if (hash != 0) sketch.hashes.push_back(hash);
    }
    sketch.wall_ns = context.wall(record);
    sketch.source = context.source();
    replica.sketches.push_back(std::move(sketch));
}

void add_sampler(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    model::SamplerPass pass;
    pass.loader = record.ident;
    pass.sampler = context.text(record, INQUEST_TEXT_SAMPLER);
    pass.seed = record.number[INQUEST_NUMBER_SAMPLER_SEED];
    pass.epoch = record.number[INQUEST_NUMBER_SAMPLER_EPOCH];
    pass.replicas = record.number[INQUEST_NUMBER_SAMPLER_REPLICAS];
    pass.replica = record.number[INQUEST_NUMBER_SAMPLER_RANK];
    pass.shuffle = record.number[INQUEST_NUMBER_SAMPLER_SHUFFLE];
    pass.samples = record.number[INQUEST_NUMBER_SAMPLER_SAMPLES];
    pass.dataset = record.number[INQUEST_NUMBER_SAMPLER_DATASET];
    // Slot 0 of number is the line, as in every kind that has a place.
    pass.place = context.place(record);
    pass.wall_ns = context.wall(record);
    pass.source = context.source();
    replica.samplers.push_back(std::move(pass));
}

void add_flags(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    model::ModelFlags flags;
    flags.wrapper = context.text(record, INQUEST_TEXT_WRAPPER);
    flags.model = context.text(record, INQUEST_TEXT_MODEL);
    flags.ranks = context.ranks(record, INQUEST_TEXT_MODEL_RANKS);
    flags.broadcast_buffers = record.number[INQUEST_NUMBER_BROADCAST_BUFFERS] != 0;
    flags.batch_norms = record.number[INQUEST_NUMBER_BATCH_NORMS];
    flags.sync_batch_norms = record.number[INQUEST_NUMBER_SYNC_BATCH_NORMS];
    flags.init_sync = record.number[INQUEST_NUMBER_INIT_SYNC] != 0;
    flags.comm_hook = record.number[INQUEST_NUMBER_COMM_HOOK] != 0;
    flags.source = context.source();
    replica.flags.push_back(std::move(flags));
}

void add_skip(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    replica.skips.push_back({record.number[INQUEST_NUMBER_STEP], as_double(record, INQUEST_NUMBER_SCALE_BITS),
                             context.wall(record), context.source()});
}

template <typename List>
void sort_by_time(List& list) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.wall_ns < b.wall_ns; });
}

}  // namespace

bool read_replica_record(const Record& record, RecordContext& context, model::ReplicaRecords& replica) {
    using Add = void (*)(const Record&, RecordContext&, model::ReplicaRecords&);
    static constexpr std::array<std::pair<int, Add>, 9> kReaders = {
        {{INQUEST_KIND_DIGEST, add_digest},
         {INQUEST_KIND_GRADIENT_NORM, add_gradient_norm},
         {INQUEST_KIND_RANDOM_STATE, add_random_state},
         {INQUEST_KIND_BATCH, add_batch},
         {INQUEST_KIND_SAMPLES, add_sketch},
         {INQUEST_KIND_SAMPLER, add_sampler},
         {INQUEST_KIND_MODEL_FLAGS, add_flags},
         {INQUEST_KIND_SCALER_SKIP, add_skip},
         {INQUEST_KIND_MODE, add_mode}}};
    const auto* const found = std::find_if(kReaders.begin(), kReaders.end(),
                                           [&](const auto& reader) { return reader.first == record.kind; });
    if (found == kReaders.end()) return false;
    found->second(record, context, replica);
    return true;
}

void finish_replica_records(model::ReplicaRecords& replica) {
    sort_by_time(replica.digests);
    sort_by_time(replica.batches);
    sort_by_time(replica.sketches);
    sort_by_time(replica.samplers);
    sort_by_time(replica.skips);
}

}  // namespace inquest::evidence
