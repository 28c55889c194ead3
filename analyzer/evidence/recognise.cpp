#include "analyzer/evidence/recognise.h"

#include <algorithm>

#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/node_json.h"
#include "analyzer/evidence/pickle.h"
#include "analyzer/evidence/python_stack.h"
#include "analyzer/evidence/text.h"
#include "analyzer/evidence/zstd_bytes.h"
#include "spank/format/black_box.h"
#include "spank/format/tensor_table.h"

namespace inquest::evidence {

namespace {

// Logs may hold stray NUL bytes (holes left by a truncation), binaries hold many.
bool is_binary(std::string_view prefix) {
    const auto odd = std::count_if(prefix.begin(), prefix.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1B';
    });
    const bool has_lines = prefix.find('\n') != std::string_view::npos;
    return static_cast<size_t>(odd) * 10 > prefix.size() * (has_lines ? 5U : 1U);
}

InputKind recognise_name(std::string_view name) {
    if (starts_with(name, "box-") && ends_with(name, ".ibb")) return InputKind::kBlackBox;
    if (starts_with(name, "tensors-") && ends_with(name, ".ibt")) return InputKind::kTensorTable;
    if (name == "node.json") return InputKind::kNodeJson;
    if (starts_with(name, "flight-") && (ends_with(name, ".json") || ends_with(name, ".pickle"))) {
        return InputKind::kFlightRecord;
    }
    if (starts_with(name, "stack-") && ends_with(name, ".txt")) return InputKind::kPythonStack;
    return InputKind::kUnknown;
}

}  // namespace

InputKind recognise(std::string_view name, std::string_view prefix) {
    if (starts_with(prefix, INQUEST_BOX_MAGIC)) return InputKind::kBlackBox;
    if (starts_with(prefix, INQUEST_TABLE_MAGIC)) return InputKind::kTensorTable;
    if (is_zstd(prefix)) return InputKind::kZstd;
    if (const InputKind named = recognise_name(name); named != InputKind::kUnknown) {
        return named;
    }
    if (prefix.empty()) return InputKind::kEmpty;
    if (looks_like_pickle(prefix)) return InputKind::kFlightRecord;
    if (looks_like_node_json(prefix)) return InputKind::kNodeJson;
    if (looks_like_flight_json(prefix)) return InputKind::kFlightRecord;
    if (looks_like_python_stack(prefix)) return InputKind::kPythonStack;
    return is_binary(prefix) ? InputKind::kUnknown : InputKind::kLog;
}

}  // namespace inquest::evidence
