// A black box in memory, with every offset, length and identifier checked before use. Format:
// spank/format/black_box.h. The bytes are a private copy; the file may go on changing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "spank/format/black_box.h"

namespace inquest::evidence {

struct BoxRecord {
    uint64_t number = 0;  // from 0, in order of claiming
    inquest_box_record record{};
};

struct BoxRing {
    std::vector<BoxRecord> records;  // whole ones, oldest first
    uint64_t torn = 0;               // claimed and never finished
    uint64_t beyond_end = 0;         // claimed, but the file ends before their slot
    bool overwritten = false;        // the ring wrapped: the first records are gone
};

class BoxImage {
 public:
    // `bytes` must outlive the image. The error names why nothing can be read: "black box of version 7".
    static tl::expected<BoxImage, std::string> open(std::string_view bytes);

    const inquest_box_header& header() const { return header_; }
    const inquest_box_live& live() const { return live_; }
    bool truncated() const { return bytes_.size() < header_.total_bytes; }
    // nullopt: the header's area for it is impossible.
    std::optional<BoxRing> ring(inquest_box_ring_index index) const;
    // The text of a string identifier, empty for INQUEST_BOX_NO_STRING; nullopt: no such string.
    std::optional<std::string_view> string(uint32_t identifier) const;

 private:
    explicit BoxImage(std::string_view bytes) : bytes_(bytes) {}
    std::string_view bytes_;
    inquest_box_header header_{};
    inquest_box_live live_{};
};

}  // namespace inquest::evidence
