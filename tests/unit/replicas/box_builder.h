/* Black boxes with digests, for tests: what a rank's hook would have written. */
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "spank/format/black_box.h"
#include "spank/replicas/replica_record.h"
#include "tests/unit/harvest/fake_node.h"

namespace inquest::test {

class BoxBuilder {
 public:
    BoxBuilder(harvest::ProcessIdentity process, int32_t rank, int32_t world_size)
        : process_(process), live_(live_of_rank(rank)), bytes_(box_bytes(process, live_)) {
        live_.world_size = world_size;
        live_.strings_used_bytes = 0;
        inquest_box_header header{};
        std::memcpy(&header, bytes_.data(), sizeof header);
        header.created_wall_ns = 1000;
        header.strings = {INQUEST_BOX_STRINGS_OFFSET, INQUEST_BOX_STRINGS_BYTES, 1};
        uint64_t offset = INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES;
        constexpr uint32_t capacities[] = {INQUEST_BOX_EVENTS_CAPACITY, INQUEST_BOX_COLLECTIVES_CAPACITY,
                                           INQUEST_BOX_DIGESTS_CAPACITY};
        for (int ring = 0; ring < INQUEST_RING_COUNT; ring++) {
            header.ring[ring] = {offset, capacities[ring], INQUEST_BOX_RECORD_BYTES};
            offset += uint64_t{capacities[ring]} * INQUEST_BOX_RECORD_BYTES;
        }
        header_ = header;
        set_header(header);
    }

    [[nodiscard]] const harvest::ProcessIdentity& process() const { return process_; }
    [[nodiscard]] inquest_box_live& live() { return live_; }
    [[nodiscard]] inquest_box_header header() const { return header_; }
    void set_header(const inquest_box_header& header) { std::memcpy(bytes_.data(), &header, sizeof header); }

    BoxBuilder& environment(const std::string& key, const std::string& value) {
        inquest_box_record record{};
        record.kind = INQUEST_KIND_ENVIRONMENT;
        record.text[INQUEST_TEXT_KEY] = text(key);
        record.text[INQUEST_TEXT_VALUE] = text(value);
        return put(INQUEST_RING_EVENTS, record);
    }

    BoxBuilder& digest(const replicas::StateDigest& digest, const std::string& promise) {
        inquest_box_record record{};
        record.kind = INQUEST_KIND_DIGEST;
        record.ident = digest.optimizer;
        record.text[INQUEST_TEXT_DIGEST_RANKS] = text(digest.ranks);
        record.text[INQUEST_TEXT_DIGEST_PROMISE] = promise.empty() ? 0 : text(promise);
        record.number[INQUEST_NUMBER_CHECKPOINT_STEP] = digest.step;
        record.number[INQUEST_NUMBER_CHECKPOINT_SITE] = digest.site;
        record.number[INQUEST_NUMBER_DIGEST_PART] = digest.part;
        record.number[INQUEST_NUMBER_LINE] = static_cast<int64_t>(digest.place);
        record.number[INQUEST_NUMBER_DIGEST_TENSORS] = digest.tensors;
        record.number[INQUEST_NUMBER_DIGEST_LOW] = static_cast<int64_t>(digest.digest.low);
        record.number[INQUEST_NUMBER_DIGEST_HIGH] = static_cast<int64_t>(digest.digest.high);
        return put(INQUEST_RING_DIGESTS, record);
    }

    BoxBuilder& model_flags(bool broadcasts_buffers) {
        inquest_box_record record{};
        record.kind = INQUEST_KIND_MODEL_FLAGS;
        record.number[INQUEST_NUMBER_BROADCAST_BUFFERS] = broadcasts_buffers ? 1 : 0;
        return put(INQUEST_RING_EVENTS, record);
    }

    BoxBuilder& sampler(const replicas::SamplerPass& pass) {
        inquest_box_record record{};
        record.kind = INQUEST_KIND_SAMPLER;
        record.ident = pass.loader;
        record.number[INQUEST_NUMBER_SAMPLER_EPOCH] = pass.epoch;
        record.number[INQUEST_NUMBER_SAMPLER_REPLICAS] = pass.replicas;
        record.number[INQUEST_NUMBER_SAMPLER_RANK] = pass.rank;
        record.number[INQUEST_NUMBER_SAMPLER_SAMPLES] = pass.samples;
        record.number[INQUEST_NUMBER_SAMPLER_DATASET] = pass.dataset;
        return put(INQUEST_RING_EVENTS, record);
    }

    BoxBuilder& samples(const replicas::SampleHashes& piece) {
        inquest_box_record record{};
        record.kind = INQUEST_KIND_SAMPLES;
        record.ident = piece.loader;
        record.number[INQUEST_NUMBER_SAMPLES_READ] = static_cast<int64_t>(piece.read);
        record.number[INQUEST_NUMBER_SAMPLES_INDEX] = piece.index;
        for (size_t at = 0; at < piece.hashes.size(); at++)
            record.number[INQUEST_NUMBER_SAMPLES_HASH + at] = static_cast<int64_t>(piece.hashes.at(at));
        return put(INQUEST_RING_DIGESTS, record);
    }

    BoxBuilder& put(int ring, inquest_box_record record) {
        const uint64_t number = live_.ring_head[ring]++;
        record.mono_ns = ++mono_ns_;
        record.begin_mark = record.end_mark = number + 1;
        set_record(ring, number, record);
        return *this;
    }

    void set_record(int ring, uint64_t number, const inquest_box_record& record) {
        const inquest_box_area& area = header_.ring[ring];
        std::memcpy(bytes_.data() + area.offset_bytes + number % area.capacity * sizeof record, &record,
                    sizeof record);
    }

    uint32_t text(const std::string& value) {
        const auto bytes = static_cast<uint32_t>(value.size());
        char* at = bytes_.data() + INQUEST_BOX_STRINGS_OFFSET + live_.strings_used_bytes;
        std::memcpy(at, &bytes, sizeof bytes);
        std::memcpy(at + sizeof bytes, value.c_str(), value.size() + 1);
        const auto id = static_cast<uint32_t>(live_.strings_used_bytes) + 1;
        live_.strings_used_bytes += sizeof bytes + value.size() + 1;
        return id;
    }

    [[nodiscard]] std::string bytes() {
        std::memcpy(bytes_.data() + INQUEST_BOX_LIVE_OFFSET, &live_, sizeof live_);
        return bytes_;
    }

    void write_into(const std::filesystem::path& directory) {
        write_file(directory / ("box-" + identity_text(process_) + ".ibb"), bytes());
    }

 private:
    harvest::ProcessIdentity process_;
    inquest_box_live live_;
    inquest_box_header header_{};
    std::string bytes_;
    uint64_t mono_ns_ = 0;
};

/* The parameters of a group "0-<ranks - 1>" after a step; `value` stands for what they hold. */
inline replicas::StateDigest parameters_after(int64_t step, uint64_t value, int ranks) {
    replicas::StateDigest digest;
    digest.optimizer = 1;
    digest.step = step;
    digest.site = INQUEST_SITE_STEP;
    digest.part = INQUEST_PART_PARAMETERS;
    digest.tensors = 4;
    digest.digest = {value, ~value};
    digest.ranks = "0-" + std::to_string(ranks - 1);
    return digest;
}

}  // namespace inquest::test
