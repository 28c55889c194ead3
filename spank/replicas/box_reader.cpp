#include "spank/replicas/box_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "spank/replicas/text_hash.h"

namespace inquest::replicas {
namespace {

constexpr size_t kMaxTexts = 256;
constexpr uint32_t kMaxStringsBytes = 1U << 26U;

/* What the processes of one torch job have in common and no two jobs of a step have: the address of the store
 * (torch.distributed, env:// initialisation) and, under torchrun, the run. Not its restarts: an agent counts
 * those of its own workers only, so the number differs between nodes (seen with torch 2.13); a rank that is
 * there again starts its world anew (comparison.cpp). */
constexpr std::string_view kMeetingPlace[] = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"};

uint64_t hash_of(const std::map<std::string, std::string>& texts) {
    TextHash hash;
    for (const auto& [key, value] : texts) {
        hash.add(key);
        hash.add(value);
    }
    return hash.value();
}

uint64_t unsigned_number(const inquest_box_record& record, int slot) {
    return static_cast<uint64_t>(record.number[slot]);
}

SamplerPass sampler_pass(const inquest_box_record& record) {
    SamplerPass pass;
    pass.loader = record.ident;
    pass.epoch = record.number[INQUEST_NUMBER_SAMPLER_EPOCH];
    pass.replicas = record.number[INQUEST_NUMBER_SAMPLER_REPLICAS];
    pass.rank = record.number[INQUEST_NUMBER_SAMPLER_RANK];
    pass.samples = record.number[INQUEST_NUMBER_SAMPLER_SAMPLES];
    pass.dataset = record.number[INQUEST_NUMBER_SAMPLER_DATASET];
    return pass;
}

std::optional<SampleHashes> sample_hashes(const inquest_box_record& record) {
    SampleHashes hashes;
    const uint64_t index = unsigned_number(record, INQUEST_NUMBER_SAMPLES_INDEX);
    if (index >= INQUEST_SAMPLES_RECORDS) return std::nullopt;
    hashes.loader = record.ident;
    hashes.read = unsigned_number(record, INQUEST_NUMBER_SAMPLES_READ);
    hashes.index = static_cast<uint32_t>(index);
    for (int at = 0; at < INQUEST_SAMPLES_PER_RECORD; at++)
        hashes.hashes.at(static_cast<size_t>(at)) = unsigned_number(record, INQUEST_NUMBER_SAMPLES_HASH + at);
    return hashes;
}

bool is_in(int64_t number, int64_t first, int64_t last) {
    return number >= first && number <= last;
}

}  // namespace

void BoxReader::read(int box_fd, const inquest_box_live& live, std::vector<ReplicaRecord>& records) {
    if (!has_unread(live) || !open(box_fd)) return;
    fill(events_, box_fd, live.ring_head[INQUEST_RING_EVENTS]);
    fill(digests_, box_fd, live.ring_head[INQUEST_RING_DIGESTS]);
    const Source source{world_, born_wall_ns_, static_cast<uint32_t>(live.rank),
                        static_cast<uint32_t>(live.world_size)};
    while (Stream* stream = earliest(live)) {
        take(box_fd, stream->read.front(), source, records);
        stream->read.pop_front();
    }
}

void BoxReader::fill(Stream& stream, int box_fd, uint64_t head) {
    if (!stream.read.empty()) return;
    std::vector<inquest_box_record> batch;
    stream.ring.read(box_fd, head, batch);
    stream.read.assign(batch.begin(), batch.end());
}

/* The events tell what the digests mean: where the job meets, how its models are wrapped, which pass over the
 * data begins. So one ring waits for the other when there is much to read. */
BoxReader::Stream* BoxReader::earliest(const inquest_box_live& live) {
    if (events_.read.empty() && events_.ring.has_unread(live.ring_head[INQUEST_RING_EVENTS])) return nullptr;
    if (digests_.read.empty() && digests_.ring.has_unread(live.ring_head[INQUEST_RING_DIGESTS]))
        return nullptr;
    if (events_.read.empty() || digests_.read.empty())
        return events_.read.empty() ? (digests_.read.empty() ? nullptr : &digests_) : &events_;
    return digests_.read.front().mono_ns < events_.read.front().mono_ns ? &digests_ : &events_;
}

bool BoxReader::has_unread(const inquest_box_live& live) const {
    if (live.rank < 0 || live.world_size < 2 || (opened_ && !usable_)) return false;
    return !opened_ || !events_.read.empty() || !digests_.read.empty() ||
           events_.ring.has_unread(live.ring_head[INQUEST_RING_EVENTS]) ||
           digests_.ring.has_unread(live.ring_head[INQUEST_RING_DIGESTS]);
}

bool BoxReader::open(int box_fd) {
    if (opened_) return usable_;
    inquest_box_header header{};
    if (pread(box_fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
    opened_ = true;
    usable_ = std::memcmp(header.magic, INQUEST_BOX_MAGIC, sizeof header.magic) == 0 &&
              header.version == INQUEST_BOX_VERSION && header.byte_order == INQUEST_BOX_BYTE_ORDER &&
              header.strings.element_bytes == 1 && header.strings.capacity <= kMaxStringsBytes &&
              header.strings.offset_bytes <= kMaxStringsBytes;
    born_wall_ns_ = header.created_wall_ns;
    strings_ = header.strings;
    events_.ring = BoxRing(header.ring[INQUEST_RING_EVENTS]);
    digests_.ring = BoxRing(header.ring[INQUEST_RING_DIGESTS]);
    return usable_;
}

void BoxReader::take(int box_fd, const inquest_box_record& record, Source source,
                     std::vector<ReplicaRecord>& records) {
    source.world = world_;
    if (record.kind == INQUEST_KIND_ENVIRONMENT) return take_environment(box_fd, record);
    if (record.kind == INQUEST_KIND_MODEL_FLAGS) take_flags(record);
    if (record.kind == INQUEST_KIND_SAMPLER) records.push_back({source, sampler_pass(record)});
    if (record.kind == INQUEST_KIND_SAMPLES)
        if (const auto hashes = sample_hashes(record)) records.push_back({source, *hashes});
    if (record.kind == INQUEST_KIND_DIGEST)
        if (auto digest = state_digest(box_fd, record)) records.push_back({source, std::move(*digest)});
}

void BoxReader::take_environment(int box_fd, const inquest_box_record& record) {
    const std::string key = text(box_fd, record.text[INQUEST_TEXT_KEY]);
    if (std::find(std::begin(kMeetingPlace), std::end(kMeetingPlace), key) == std::end(kMeetingPlace)) return;
    meeting_place_[key] = text(box_fd, record.text[INQUEST_TEXT_VALUE]);
    world_ = hash_of(meeting_place_);
}

/* DistributedDataParallel broadcasts rank 0's buffers before each forward pass unless that is switched off
 * (torch 2.13, nn/parallel/distributed.py, forward_sync_buffers); between two broadcasts they differ. */
void BoxReader::take_flags(const inquest_box_record& record) {
    const bool is_broadcast = record.number[INQUEST_NUMBER_BROADCAST_BUFFERS] != 0;
    buffers_are_broadcast_ = buffers_are_broadcast_.value_or(true) && is_broadcast;
}

std::optional<StateDigest> BoxReader::state_digest(int box_fd, const inquest_box_record& record) {
    const int64_t* number = record.number;
    if (!is_in(number[INQUEST_NUMBER_CHECKPOINT_SITE], INQUEST_SITE_START, INQUEST_SITE_END) ||
        !is_in(number[INQUEST_NUMBER_DIGEST_PART], INQUEST_PART_PARAMETERS, INQUEST_PART_HYPERPARAMETERS) ||
        !is_in(number[INQUEST_NUMBER_DIGEST_TENSORS], 0, UINT32_MAX) ||
        number[INQUEST_NUMBER_CHECKPOINT_STEP] < 0)
        return std::nullopt;
    if (number[INQUEST_NUMBER_DIGEST_PART] == INQUEST_PART_BUFFERS && buffers_are_broadcast_.value_or(false))
        return std::nullopt;
    StateDigest digest;
    digest.optimizer = record.ident;
    digest.step = number[INQUEST_NUMBER_CHECKPOINT_STEP];
    digest.site = static_cast<uint32_t>(number[INQUEST_NUMBER_CHECKPOINT_SITE]);
    digest.part = static_cast<uint32_t>(number[INQUEST_NUMBER_DIGEST_PART]);
    digest.tensors = static_cast<uint32_t>(number[INQUEST_NUMBER_DIGEST_TENSORS]);
    name_model(box_fd, record, digest);
    digest.digest = {unsigned_number(record, INQUEST_NUMBER_DIGEST_LOW),
                     unsigned_number(record, INQUEST_NUMBER_DIGEST_HIGH)};
    digest.ranks = text(box_fd, record.text[INQUEST_TEXT_DIGEST_RANKS]);
    return digest.ranks.empty() ? std::nullopt : std::optional(std::move(digest));
}

void BoxReader::name_model(int box_fd, const inquest_box_record& record, StateDigest& digest) {
    const uint32_t promise = record.text[INQUEST_TEXT_DIGEST_PROMISE];
    const std::string file = text(box_fd, record.text[INQUEST_TEXT_FILE]);
    digest.place = text_hash({file, std::to_string(record.number[INQUEST_NUMBER_LINE])});
    if (promise != INQUEST_BOX_NO_STRING) digest.promise = text_hash({text(box_fd, promise)});
}

/* Empty when there is none. Few different ones are asked for. */
std::string BoxReader::text(int box_fd, uint32_t id) {
    if (const auto known = texts_.find(id); known != texts_.end()) return known->second;
    uint32_t bytes = 0;
    if (id == INQUEST_BOX_NO_STRING || id - 1 >= strings_.capacity) return {};
    const auto at = static_cast<off_t>(strings_.offset_bytes + id - 1);
    if (pread(box_fd, &bytes, sizeof bytes, at) != static_cast<ssize_t>(sizeof bytes) ||
        bytes > INQUEST_BOX_STRING_MAX_BYTES)
        return {};
    std::string read_text(bytes, '\0');
    if (pread(box_fd, read_text.data(), bytes, at + static_cast<off_t>(sizeof bytes)) !=
        static_cast<ssize_t>(bytes))
        return {};
    if (texts_.size() < kMaxTexts) texts_.emplace(id, read_text);
    return read_text;
}

}  // namespace inquest::replicas
