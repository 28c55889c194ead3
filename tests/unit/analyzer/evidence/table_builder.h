// Builds tensor tables byte by byte, whole or damaged, for tests of everything that reads them.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "spank/format/tensor_table.h"

namespace inquest::testing {

// A table of process 815 with room for `capacity` entries.
class TableBuilder {
 public:
    static constexpr uint32_t kNamesBytes = 1024;

    explicit TableBuilder(uint32_t capacity = 8)
        : bytes_(INQUEST_TABLE_NAMES_OFFSET + kNamesBytes + capacity * INQUEST_TABLE_ENTRY_BYTES, '\0') {
        memcpy(header.magic, INQUEST_TABLE_MAGIC, sizeof header.magic);
        header.version = INQUEST_TABLE_VERSION;
        header.byte_order = INQUEST_BOX_BYTE_ORDER;
        header.total_bytes = bytes_.size();
        header.pid = 815;
        header.start_time_ticks = 4711;
        header.names = {INQUEST_TABLE_NAMES_OFFSET, kNamesBytes, 1};
        header.entries = {INQUEST_TABLE_NAMES_OFFSET + kNamesBytes, capacity, INQUEST_TABLE_ENTRY_BYTES};
    }

    TableBuilder& name(std::string_view line) {
        memcpy(&bytes_[INQUEST_TABLE_NAMES_OFFSET + live.names_used_bytes], line.data(), line.size());
        live.names_used_bytes += line.size();
        return *this;
    }

    TableBuilder& entry(uint64_t low, double norm) {
        inquest_table_entry entry{};
        entry.mark = live.entries_head + 1;
        entry.digest_low = low;
        entry.lane[3] = static_cast<uint16_t>(low);
        entry.norm_bits = std::bit_cast<uint64_t>(norm);
        memcpy(slot(live.entries_head++), &entry, sizeof entry);
        return *this;
    }

    inquest_table_entry* slot(uint64_t number) {
        const uint64_t offset =
            header.entries.offset_bytes + number % header.entries.capacity * INQUEST_TABLE_ENTRY_BYTES;
        return reinterpret_cast<inquest_table_entry*>(&bytes_[offset]);
    }

    std::string bytes() const {
        std::string result = bytes_;
        memcpy(result.data(), &header, sizeof header);
        memcpy(result.data() + INQUEST_TABLE_LIVE_OFFSET, &live, sizeof live);
        return result;
    }

    inquest_table_header header{};
    inquest_table_live live{};

 private:
    std::string bytes_;
};

}  // namespace inquest::testing
