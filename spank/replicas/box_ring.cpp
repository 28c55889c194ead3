#include "spank/replicas/box_ring.h"

#include <unistd.h>

#include <algorithm>

namespace inquest::replicas {
namespace {

constexpr uint32_t kMaxCapacity = 1U << 20U;
constexpr uint64_t kMaxOffset = 1ULL << 32U;
/* A writer that was killed in the middle of a record never finishes it. */
constexpr int kMaxWaitedReads = 10;

}  // namespace

BoxRing::BoxRing(const inquest_box_area& area) {
    if (area.element_bytes != INQUEST_BOX_RECORD_BYTES || area.capacity > kMaxCapacity ||
        area.offset_bytes > kMaxOffset)
        return;
    offset_bytes_ = area.offset_bytes;
    capacity_ = area.capacity;
}

/* The kernel promises no order within one copy: marks and body are of the same record when the marks were
 * there before the body was read, and are there still (docs/formats/black_box.md). */
void BoxRing::read(int box_fd, uint64_t head, std::vector<inquest_box_record>& records) {
    if (!has_unread(head)) return;
    if (head - next_ > capacity_) next_ = head - capacity_;
    const uint64_t slot = next_ % capacity_;
    const size_t wanted = std::min({static_cast<uint64_t>(kMaxBatch), head - next_, capacity_ - slot});
    const auto before = read_slots(box_fd, slot, wanted);
    const auto batch = read_slots(box_fd, slot, before.size());
    const auto after = read_slots(box_fd, slot, batch.size());
    for (size_t at = 0; at < after.size(); at++) {
        Found found = judge(before[at]);
        for (const inquest_box_record& again : {batch[at], after[at]})
            if (found == Found::whole) found = judge(again);
        if (found == Found::unfinished && !give_up_waiting()) return;
        waited_reads_ = 0;
        next_++;
        if (found == Found::whole) records.push_back(batch[at]);
    }
}

std::vector<inquest_box_record> BoxRing::read_slots(int box_fd, uint64_t slot, size_t count) const {
    std::vector<inquest_box_record> slots(count);
    const auto bytes = pread(box_fd, slots.data(), count * sizeof(inquest_box_record),
                             static_cast<off_t>(offset_bytes_ + slot * sizeof(inquest_box_record)));
    slots.resize(bytes > 0 ? static_cast<size_t>(bytes) / sizeof(inquest_box_record) : 0);
    return slots;
}

BoxRing::Found BoxRing::judge(const inquest_box_record& record) const {
    const uint64_t mark = next_ + 1;
    if (record.begin_mark == mark && record.end_mark == mark) return Found::whole;
    const bool was_overwritten = record.begin_mark > mark && record.begin_mark != INQUEST_BOX_MARK_BUSY;
    return was_overwritten ? Found::gone : Found::unfinished;
}

bool BoxRing::give_up_waiting() {
    return ++waited_reads_ >= kMaxWaitedReads;
}

}  // namespace inquest::replicas
