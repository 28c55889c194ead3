#include "analyzer/evidence/input_reader.h"

#include <algorithm>

#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/log_reader.h"
#include "analyzer/evidence/python_stack.h"
#include "analyzer/evidence/recognise.h"
#include "analyzer/evidence/tensor_table_reader.h"
#include "analyzer/evidence/text.h"
#include "analyzer/evidence/zstd_bytes.h"

namespace inquest::evidence {

namespace {

constexpr std::string_view kAnalysedBox = ".analysed.ibb";  // spank/harvest/harvest.h
constexpr size_t kChunkBytes = size_t{1024} * 1024;

// The last part of the path, without ".zst".
std::string_view base_name(std::string_view source) {
    const size_t slash = source.rfind('/');
    std::string_view name = slash == std::string_view::npos ? source : source.substr(slash + 1);
    if (ends_with(name, ".zst")) name.remove_suffix(4);
    return name;
}

// "stack-815-4711.txt" names process 815 that started at tick 4711.
std::optional<ProcessKey> process_of(std::string_view name) {
    const size_t first = name.find('-');
    const size_t second = name.find('-', first + 1);
    const size_t dot = name.find('.');
    if (first == std::string_view::npos || second == std::string_view::npos ||
        dot == std::string_view::npos || dot < second) {
        return std::nullopt;
    }
    const auto pid = parse_integer(name.substr(first + 1, second - first - 1));
    const auto start = parse_integer(name.substr(second + 1, dot - second - 1));
    if (!pid || !start || *pid <= 0 || *pid > INT32_MAX || *start < 0) return std::nullopt;
    return ProcessKey(static_cast<int>(*pid), static_cast<uint64_t>(*start));
}

uint64_t limit_of(InputKind kind, const Limits& limits) {
    switch (kind) {
        case InputKind::kBlackBox:
            return limits.box_bytes;
        case InputKind::kTensorTable:
            return limits.table_bytes;
        case InputKind::kNodeJson:
            return limits.node_json_bytes;
        case InputKind::kPythonStack:
            return limits.stack_bytes;
        default:
            return limits.flight_bytes;
    }
}

// Entries that the last copy has no more.
void add_earlier(model::TensorTable& earlier, model::TensorTable& table) {
    table.entries.merge(earlier.entries);
    for (auto& [part, names] : earlier.names)
        table.names[part].merge(names);
}

bool has_box(const FolderEvidence& folder, const ProcessKey& process) {
    return std::any_of(folder.boxes.begin(), folder.boxes.end(), [&](const BoxEvidence& box) {
        return ProcessKey(box.rank.pid, box.rank.start_time_ticks) == process;
    });
}

}  // namespace

bool InputReader::read(FileSource& input, const std::string& source, FolderEvidence& folder) {
    const InputKind kind = recognise(base_name(source), input.prefix());
    if (kind == InputKind::kLog) return read_log(input, source, folder);
    if (kind == InputKind::kUnknown) {
        notes_.add(source, "not recognised: binary");
        return false;
    }
    const auto bytes = input.read_all(limit_of(kind, limits_));
    if (!bytes) {
        notes_.add(source, bytes.error());
        return false;
    }
    if (bytes->cut) notes_.add(source, "larger than the limit; the rest was left out");
    return read_bytes(bytes->data, source, folder);
}

bool InputReader::read_bytes(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    switch (recognise(base_name(source), bytes.substr(0, FileSource::kPrefixBytes))) {
        case InputKind::kEmpty:
            notes_.add(source, "empty");
            return false;
        case InputKind::kUnknown:
            notes_.add(source, "not recognised: binary");
            return false;
        case InputKind::kBlackBox:
            return read_box(bytes, source, folder);
        case InputKind::kTensorTable:
            return read_table(bytes, source, folder);
        case InputKind::kZstd:
            return read_zstd(bytes, source, folder);
        case InputKind::kFlightRecord:
            return read_flight(bytes, source, folder);
        case InputKind::kNodeJson:
            return read_node(bytes, source, folder);
        case InputKind::kPythonStack:
            return read_stack(bytes, source, folder);
        case InputKind::kLog:
            break;
    }
    LogReader reader(source, limits_, notes_);
    reader.feed(bytes);
    return add_log(reader.finish(), folder);
}

bool InputReader::read_zstd(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    const Decompressed inner = decompress_zstd(bytes, limits_.decompressed_bytes);
    if (!inner.error.empty()) notes_.add(source, inner.error);
    if (is_zstd(inner.data)) {
        notes_.add(source, "compressed twice");
        return false;
    }
    return read_bytes(inner.data, source, folder);
}

bool InputReader::read_log(FileSource& input, const std::string& source, FolderEvidence& folder) {
    LogReader reader(source, limits_, notes_);
    std::string chunk(kChunkBytes, '\0');
    while (true) {
        const auto got = input.read_some(chunk.data(), chunk.size());
        if (!got) notes_.add(source, got.error());
        if (!got || *got == 0) break;
        reader.feed(std::string_view(chunk.data(), *got));
    }
    return add_log(reader.finish(), folder);
}

bool InputReader::add_log(model::LogFile log, FolderEvidence& folder) {
    if (log.lines.empty()) return false;
    folder.logs.push_back(std::move(log));
    return true;
}

bool InputReader::read_box(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    const std::string_view name = base_name(source);
    const auto process = process_of(name);
    if (process && ends_with(name, kAnalysedBox)) {
        folder.analysed_boxes[*process] = {source, std::string(bytes)};
        return false;
    }
    // Names are read in order: that of the earlier copy comes first.
    const auto earlier =
        process ? folder.analysed_boxes.extract(*process) : decltype(folder.analysed_boxes)::node_type();
    auto box = read_black_box(source, bytes, notes_, earlier ? earlier.mapped().bytes : std::string_view());
    if (!box && earlier) box = read_black_box(earlier.mapped().source, earlier.mapped().bytes, notes_);
    if (box) folder.boxes.push_back(std::move(*box));
    return box.has_value();
}

bool InputReader::finish(FolderEvidence& folder) {
    bool found = false;
    for (const auto& [process, copy] : folder.analysed_boxes) {
        if (has_box(folder, process)) continue;  // the last copy was read first
        auto box = read_black_box(copy.source, copy.bytes, notes_);
        found |= box.has_value();
        if (box) folder.boxes.push_back(std::move(*box));
    }
    folder.analysed_boxes.clear();
    return found;
}

bool InputReader::read_table(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    const auto process = process_of(base_name(source));
    if (!process) {
        notes_.add(source, "tensor table of an unknown process, left out");
        return false;
    }
    auto table = read_tensor_table(source, bytes, notes_);
    if (!table) return false;
    auto& known = folder.processes[*process].table;
    if (known) add_earlier(*known, *table);
    known = std::move(*table);
    return true;
}

bool InputReader::read_flight(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    auto record = read_flight_record(source, bytes, limits_, notes_);
    if (!record) return false;
    const std::string_view name = base_name(source);
    const auto process = starts_with(name, "flight-") ? process_of(name) : std::nullopt;
    if (!process) {
        folder.flights.push_back(std::move(*record));
        return true;
    }
    auto& known = folder.processes[*process].flight;
    if (!known || is_richer(*record, *known)) known = std::move(*record);
    return true;
}

bool InputReader::read_stack(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    if (bytes.empty()) return false;  // opened for faulthandler and never asked for: no damage
    auto stack = read_python_stack(source, bytes, limits_, notes_);
    if (!stack) return false;
    const std::string_view name = base_name(source);
    const auto process = starts_with(name, "stack-") ? process_of(name) : std::nullopt;
    if (process) {
        folder.processes[*process].stack = std::move(*stack);
    } else {
        folder.stacks.push_back(std::move(*stack));
    }
    return true;
}

bool InputReader::read_node(std::string_view bytes, const std::string& source, FolderEvidence& folder) {
    auto node = read_node_json(source, bytes, limits_, notes_);
    if (!node) return false;
    if (folder.node) notes_.add(source, "second node evidence in one folder; the first was left out");
    folder.node = std::move(*node);
    return true;
}

}  // namespace inquest::evidence
