#include "analyzer/evidence/box_image.h"

#include <algorithm>
#include <cstring>

namespace inquest::evidence {

namespace {

constexpr std::string_view kMagic = INQUEST_BOX_MAGIC;
constexpr uint32_t kMostRingRecords = 1U << 20U;

template <typename T>
bool copy_at(std::string_view bytes, uint64_t offset, T& out) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    memcpy(&out, bytes.data() + offset, sizeof(T));
    return true;
}

bool is_possible_ring(const inquest_box_area& area) {
    return area.element_bytes == INQUEST_BOX_RECORD_BYTES && area.capacity > 0 &&
           area.capacity <= kMostRingRecords && area.offset_bytes >= INQUEST_BOX_STRINGS_OFFSET &&
           area.offset_bytes <= UINT64_MAX / 2;
}

enum class SlotState { kEmpty, kWhole, kTorn };

// The number of the record that a slot should hold, given how many were ever claimed. A slot may be ahead of
// `head` (written after the header was copied) or behind it (claimed, not yet cleared).
SlotState classify(const inquest_box_record& record, uint64_t slot, uint64_t capacity, uint64_t head) {
    const uint64_t mark = record.begin_mark;
    if (mark == record.end_mark && mark != 0 && (mark - 1) % capacity == slot) {
        const uint64_t oldest = head > 2 * capacity ? head - 2 * capacity : 0;
        if (mark > oldest && mark - 1 < head + capacity) return SlotState::kWhole;
    }
    const bool never_claimed = slot >= head;
    return never_claimed && mark == 0 && record.end_mark == 0 ? SlotState::kEmpty : SlotState::kTorn;
}

}  // namespace

tl::expected<BoxImage, std::string> BoxImage::open(std::string_view bytes) {
    BoxImage image(bytes);
    if (bytes.empty()) return tl::unexpected<std::string>("black box is empty");
    if (!copy_at(bytes, 0, image.header_)) return tl::unexpected<std::string>("black box ends in its header");
    const inquest_box_header& header = image.header_;
    if (std::string_view(header.magic, sizeof header.magic) != kMagic) {
        return tl::unexpected<std::string>("black box was never finished: no magic");
    }
    if (header.byte_order != INQUEST_BOX_BYTE_ORDER) {
        return tl::unexpected<std::string>("black box of a foreign byte order");
    }
    if (header.version != INQUEST_BOX_VERSION) {
        return tl::unexpected("black box of version " + std::to_string(header.version) + ", not " +
                              std::to_string(INQUEST_BOX_VERSION));
    }
    if (!copy_at(bytes, header.live_offset_bytes, image.live_)) {
        return tl::unexpected<std::string>("black box ends before its live counters");
    }
    return image;
}

std::optional<BoxRing> BoxImage::ring(inquest_box_ring_index index) const {
    const inquest_box_area& area = header_.ring[index];
    if (!is_possible_ring(area)) return std::nullopt;
    const uint64_t head = std::min(live_.ring_head[index], UINT64_MAX / 4);
    BoxRing ring;
    ring.overwritten = head > area.capacity;
    for (uint64_t slot = 0; slot < area.capacity; ++slot) {
        BoxRecord found;
        if (!copy_at(bytes_, area.offset_bytes + slot * INQUEST_BOX_RECORD_BYTES, found.record)) {
            ring.beyond_end += slot < head ? 1 : 0;
            continue;
        }
        const SlotState state = classify(found.record, slot, area.capacity, head);
        if (state == SlotState::kTorn) ++ring.torn;
        if (state != SlotState::kWhole) continue;
        found.number = found.record.begin_mark - 1;
        ring.records.push_back(found);
    }
    std::sort(ring.records.begin(), ring.records.end(),
              [](const BoxRecord& a, const BoxRecord& b) { return a.number < b.number; });
    return ring;
}

std::optional<std::string_view> BoxImage::string(uint32_t identifier) const {
    if (identifier == INQUEST_BOX_NO_STRING) return std::string_view();
    const inquest_box_area& area = header_.strings;
    const uint64_t start = uint64_t{identifier} - 1;
    uint32_t length = 0;
    if (area.offset_bytes > bytes_.size() || start > area.capacity ||
        !copy_at(bytes_, area.offset_bytes + start, length)) {
        return std::nullopt;
    }
    const uint64_t end_in_area = start + sizeof length + length;
    if (length > INQUEST_BOX_STRING_MAX_BYTES || end_in_area > area.capacity) return std::nullopt;
    if (area.offset_bytes + end_in_area > bytes_.size()) return std::nullopt;
    return bytes_.substr(area.offset_bytes + start + sizeof length, length);
}

}  // namespace inquest::evidence
