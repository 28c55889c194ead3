#include "analyzer/evidence/tensor_table_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {
namespace {

constexpr std::string_view kMagic = INQUEST_TABLE_MAGIC;
constexpr int64_t kMostTensors = 1 << 20;
constexpr size_t kFieldsBeforeName = 6;

template <typename T>
bool copy_at(std::string_view bytes, uint64_t offset, T& out) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    memcpy(&out, bytes.data() + offset, sizeof(T));
    return true;
}

// Why nothing can be read; empty: it can.
std::string refuse(std::string_view bytes, const inquest_table_header& header) {
    if (std::string_view(header.magic, sizeof header.magic) != kMagic) {
        return "tensor table was never finished: no magic";
    }
    if (header.byte_order != INQUEST_BOX_BYTE_ORDER) return "tensor table of a foreign byte order";
    if (header.version != INQUEST_TABLE_VERSION) {
        return "tensor table of version " + std::to_string(header.version) + ", not " +
               std::to_string(INQUEST_TABLE_VERSION);
    }
    const bool possible = header.entries.element_bytes == INQUEST_TABLE_ENTRY_BYTES &&
                          header.entries.capacity > 0 &&
                          header.entries.capacity <= INQUEST_TABLE_ENTRIES_MAX &&
                          header.names.capacity <= INQUEST_TABLE_NAMES_MAX_BYTES &&
                          header.names.offset_bytes >= INQUEST_TABLE_NAMES_OFFSET &&
                          header.entries.offset_bytes >= INQUEST_TABLE_NAMES_OFFSET &&
                          header.names.offset_bytes <= bytes.size();
    return possible ? std::string() : "tensor table: impossible areas";
}

struct NameLine {
    int64_t optimizer = 0;
    int64_t part = 0;
    int64_t index = 0;
    model::TensorName tensor;
};

// "<optimizer> <part> <index> <dtype> <shape> <norm> <name>"
std::optional<NameLine> parse_name(std::string_view line) {
    std::array<std::string_view, kFieldsBeforeName> field;
    for (std::string_view& part : field) {
        const size_t blank = line.find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        part = line.substr(0, blank);
        line.remove_prefix(blank + 1);
    }
    const auto optimizer = parse_integer(field[0]);
    const auto part = parse_integer(field[1]);
    const auto index = parse_integer(field[2]);
    const bool possible = optimizer && part && index && *optimizer >= 0 && *part >= INQUEST_PART_PARAMETERS &&
                          *part <= INQUEST_PART_HYPERPARAMETERS && *index >= 0 && *index < kMostTensors;
    if (!possible || line.empty()) return std::nullopt;
    return NameLine{*optimizer,
                    *part,
                    *index,
                    {clean_text(line), clean_text(field[3]), clean_text(field[4]), field[5] == "n"}};
}

class TableReader {
 public:
    TableReader(const std::string& source, std::string_view bytes, const inquest_table_header& header,
                const inquest_table_live& live, Notes& notes)
        : source_(source), bytes_(bytes), header_(header), live_(live), notes_(notes) {}

    model::TensorTable read() {
        table_.source.source = source_;
        if (bytes_.size() < header_.total_bytes) notes_.add(source_, "tensor table: truncated");
        if (live_.dropped_names > 0)
            notes_.add(source_, "tensor table: names were dropped, their area is full");
        read_names();
        read_entries();
        return std::move(table_);
    }

 private:
    void read_names() {
        const uint64_t used = std::min<uint64_t>(live_.names_used_bytes, header_.names.capacity);
        std::string_view lines = bytes_.substr(header_.names.offset_bytes, used);
        while (!lines.empty()) {
            const size_t end = lines.find('\n');
            if (end == std::string_view::npos) break;  // still being written
            read_name(lines.substr(0, end));
            lines.remove_prefix(end + 1);
        }
    }

    void read_name(std::string_view line) {
        auto name = parse_name(line);
        if (!name) return notes_.add(source_, "tensor table: unreadable name");
        table_.names[{name->optimizer, static_cast<int>(name->part)}][name->index] = std::move(name->tensor);
    }

    void read_entries() {
        uint64_t torn = 0;
        for (uint64_t slot = 0; slot < header_.entries.capacity; ++slot) {
            inquest_table_entry entry{};
            const uint64_t offset = header_.entries.offset_bytes + slot * sizeof entry;
            if (!copy_at(bytes_, offset, entry)) break;
            if (entry.mark == 0) {
                torn += slot < live_.entries_head ? 1 : 0;
            } else if ((entry.mark - 1) % header_.entries.capacity == slot) {
                add_entry(entry);
            } else {
                ++torn;
            }
        }
        if (torn > 0) notes_.add(source_, "tensor table: " + std::to_string(torn) + " torn entries");
    }

    void add_entry(const inquest_table_entry& entry) {
        model::TensorDigest digest;
        digest.low = entry.digest_low;
        digest.high = entry.digest_high;
        std::copy(std::begin(entry.lane), std::end(entry.lane), digest.lanes.begin());
        digest.norm = std::bit_cast<double>(entry.norm_bits);
        table_.entries[entry.mark - 1] = digest;
    }

    const std::string& source_;
    std::string_view bytes_;
    const inquest_table_header& header_;
    const inquest_table_live& live_;
    Notes& notes_;
    model::TensorTable table_;
};

}  // namespace

std::optional<model::TensorTable> read_tensor_table(const std::string& source, std::string_view bytes,
                                                    Notes& notes) {
    inquest_table_header header{};
    inquest_table_live live{};
    if (!copy_at(bytes, 0, header) || !copy_at(bytes, INQUEST_TABLE_LIVE_OFFSET, live)) {
        notes.add(source, "tensor table ends in its header");
        return std::nullopt;
    }
    if (const std::string why = refuse(bytes, header); !why.empty()) {
        notes.add(source, why);
        return std::nullopt;
    }
    return TableReader(source, bytes, header, live, notes).read();
}

}  // namespace inquest::evidence
