/* Reads a ring of a black box while its writer goes on, each record once. */
#ifndef INQUEST_SPANK_REPLICAS_BOX_RING_H
#define INQUEST_SPANK_REPLICAS_BOX_RING_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spank/format/black_box.h"

namespace inquest::replicas {

class BoxRing {
 public:
    BoxRing() = default;
    /* The area as a header has it, that is hostile: one that cannot be a ring counts as none. */
    explicit BoxRing(const inquest_box_area& area);

    /* Appends the next whole records below `head`, at most kMaxBatch. Those that were overwritten before they
     * were read are left out, so is a torn one, after it has been waited for. */
    void read(int box_fd, uint64_t head, std::vector<inquest_box_record>& records);

    [[nodiscard]] bool has_unread(uint64_t head) const { return capacity_ > 0 && next_ < head; }

    static constexpr size_t kMaxBatch = 256;

 private:
    enum class Found { whole, gone, unfinished };

    [[nodiscard]] std::vector<inquest_box_record> read_slots(int box_fd, uint64_t slot, size_t count) const;
    [[nodiscard]] Found judge(const inquest_box_record& record) const;
    bool give_up_waiting();

    uint64_t offset_bytes_ = 0;
    uint64_t capacity_ = 0;
    uint64_t next_ = 0;
    int waited_reads_ = 0;
};

}  // namespace inquest::replicas

#endif
