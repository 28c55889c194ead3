/* Reads what a rank's black box says about its replica, while the rank runs or after its end.
 *
 * The box is the user's and hostile; it is only read with pread. Single threaded. One read() takes a bounded
 * number of records. */
#ifndef INQUEST_SPANK_REPLICAS_BOX_READER_H
#define INQUEST_SPANK_REPLICAS_BOX_READER_H

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spank/replicas/box_ring.h"
#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

class BoxReader {
 public:
    /* Appends what is new in the box, in the order of its writing; `live` are its current counters. Reads
     * nothing before the process has become a rank. */
    void read(int box_fd, const inquest_box_live& live, std::vector<ReplicaRecord>& records);

    [[nodiscard]] bool has_unread(const inquest_box_live& live) const;

 private:
    bool open(int box_fd);
    void take(int box_fd, const inquest_box_record& record, Source source,
              std::vector<ReplicaRecord>& records);
    void take_flags(const inquest_box_record& record);
    void take_environment(int box_fd, const inquest_box_record& record);
    struct Stream {
        BoxRing ring;
        std::deque<inquest_box_record> read; /* and not yet taken */
    };

    static void fill(Stream& stream, int box_fd, uint64_t head);
    Stream* earliest(const inquest_box_live& live);
    std::optional<StateDigest> state_digest(int box_fd, const inquest_box_record& record);
    void name_model(int box_fd, const inquest_box_record& record, StateDigest& digest);
    std::string text(int box_fd, uint32_t id);

    bool opened_ = false;
    bool usable_ = false;
    uint64_t born_wall_ns_ = 0;
    inquest_box_area strings_{};
    Stream events_;
    Stream digests_;
    std::map<std::string, std::string> meeting_place_;
    uint64_t world_ = 0;
    std::optional<bool> buffers_are_broadcast_; /* by the wrapper of each model; absent: no wrapper yet */
    std::map<uint32_t, std::string> texts_;
};

}  // namespace inquest::replicas

#endif
