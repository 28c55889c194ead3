// What an input is, by its first bytes. A name only decides where content cannot: a box that was never
// finished has no magic.
#pragma once
#include <string_view>

namespace inquest::evidence {

enum class InputKind {
    kEmpty,
    kBlackBox,
    kTensorTable,
    kZstd,
    kFlightRecord,
    kNodeJson,
    kPythonStack,
    kLog,
    kUnknown
};

// `name` is the last part of the path, without ".zst".
InputKind recognise(std::string_view name, std::string_view prefix);

}  // namespace inquest::evidence
