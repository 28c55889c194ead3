// Builds black boxes byte by byte, whole or damaged, for tests of everything that reads them.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spank/format/black_box.h"

namespace inquest::testing {

// A healthy box of rank 0 of 4, claimed at monotonic 1 s = wall 1'700'000'000 s.
class BoxBuilder {
 public:
    static constexpr uint64_t kMonoNs = 1'000'000'000;
    static constexpr uint64_t kWallNs = 1'700'000'000'000'000'000;

    using Text = std::pair<int, std::string_view>;  // slot, text
    using Number = std::pair<int, int64_t>;         // slot, number

    BoxBuilder() : bytes_(INQUEST_BOX_TOTAL_BYTES, '\0') {
        memcpy(header.magic, INQUEST_BOX_MAGIC, sizeof header.magic);
        header.version = INQUEST_BOX_VERSION;
        header.byte_order = INQUEST_BOX_BYTE_ORDER;
        header.total_bytes = INQUEST_BOX_TOTAL_BYTES;
        header.header_bytes = INQUEST_BOX_HEADER_BYTES;
        header.live_offset_bytes = INQUEST_BOX_LIVE_OFFSET;
        header.pid = 815;
        header.start_time_ticks = 4711;
        header.job_id = 17;
        header.task = 0;
        header.node_index = 0;
        header.created_mono_ns = kMonoNs;
        header.created_wall_ns = kWallNs;
        strcpy(header.node, "n1");
        strcpy(header.program, "train.py");
        header.strings = {INQUEST_BOX_STRINGS_OFFSET, INQUEST_BOX_STRINGS_BYTES, 1};
        header.ring[INQUEST_RING_EVENTS] = {INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES,
                                            INQUEST_BOX_EVENTS_CAPACITY, INQUEST_BOX_RECORD_BYTES};
        header.ring[INQUEST_RING_COLLECTIVES] = {INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES +
                                                     INQUEST_BOX_EVENTS_CAPACITY * INQUEST_BOX_RECORD_BYTES,
                                                 INQUEST_BOX_COLLECTIVES_CAPACITY, INQUEST_BOX_RECORD_BYTES};
        header.ring[INQUEST_RING_DIGESTS] = {
            INQUEST_BOX_TOTAL_BYTES - INQUEST_BOX_DIGESTS_CAPACITY * INQUEST_BOX_RECORD_BYTES,
            INQUEST_BOX_DIGESTS_CAPACITY, INQUEST_BOX_RECORD_BYTES};
        live.rank = 0;
        live.world_size = 4;
        live.state = INQUEST_STATE_GROUP_READY;
    }

    // Identifier of a new string.
    uint32_t string(std::string_view text) {
        if (text.empty()) return INQUEST_BOX_NO_STRING;
        const auto start = static_cast<uint32_t>(live.strings_used_bytes);
        const auto length = static_cast<uint32_t>(text.size());
        memcpy(&bytes_[INQUEST_BOX_STRINGS_OFFSET + start], &length, sizeof length);
        memcpy(&bytes_[INQUEST_BOX_STRINGS_OFFSET + start + sizeof length], text.data(), text.size());
        live.strings_used_bytes += sizeof length + text.size() + 1;
        return start + 1;
    }

    // Appends a record `at_ns` after the box was claimed; returns its number.
    uint64_t record(inquest_box_ring_index ring, inquest_record_kind kind, uint64_t at_ns, uint64_t ident,
                    std::initializer_list<Text> texts = {}, std::initializer_list<Number> numbers = {}) {
        inquest_box_record record{};
        record.mono_ns = kMonoNs + at_ns;
        record.kind = kind;
        record.ident = ident;
        for (const auto& [slot, text] : texts)
            record.text[slot] = string(text);
        for (const auto& [slot, number] : numbers)
            record.number[slot] = number;
        const uint64_t number = live.ring_head[ring]++;
        record.begin_mark = record.end_mark = number + 1;
        memcpy(slot(ring, number), &record, sizeof record);
        return number;
    }

    // One Python-level collective; `end_ns` 0 leaves it open.
    void collective(std::string_view operation, int64_t sequence, uint64_t begin_ns, uint64_t end_ns,
                    std::string_view file = "train.py", int64_t line = 84) {
        const uint64_t ident = ++idents_;
        record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, begin_ns, ident,
               {{INQUEST_TEXT_FILE, file},
                {INQUEST_TEXT_FUNCTION, "train_step"},
                {INQUEST_TEXT_OPERATION, operation},
                {INQUEST_TEXT_DTYPE, "torch.float32"},
                {INQUEST_TEXT_COLLECTIVE_GROUP, "default_pg"},
                {INQUEST_TEXT_SHAPE, "[16]"}},
               {{INQUEST_NUMBER_LINE, line},
                {INQUEST_NUMBER_SEQUENCE, sequence},
                {INQUEST_NUMBER_ELEMENTS, 16},
                {INQUEST_NUMBER_PEER, -1}});
        ++live.collectives_begun;
        if (end_ns == 0) return;
        record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_END, end_ns, ident);
        ++live.collectives_ended;
    }

    // Where record `number` of a ring lies: for damage on purpose.
    inquest_box_record* slot(inquest_box_ring_index ring, uint64_t number) {
        const inquest_box_area& area = header.ring[ring];
        const uint64_t offset = area.offset_bytes + number % area.capacity * INQUEST_BOX_RECORD_BYTES;
        return reinterpret_cast<inquest_box_record*>(&bytes_[offset]);
    }

    std::string bytes() const {
        std::string result = bytes_;
        memcpy(result.data(), &header, sizeof header);
        memcpy(result.data() + INQUEST_BOX_LIVE_OFFSET, &live, sizeof live);
        return result;
    }

    inquest_box_header header{};
    inquest_box_live live{};

 private:
    std::string bytes_;
    uint64_t idents_ = 0;
};

}  // namespace inquest::testing
