// Reads a tensor table (spank/format/tensor_table.h): digests of single tensors. Damage becomes notes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/evidence/notes.h"
#include "analyzer/model/replica.h"

namespace inquest::evidence {

// nullopt (and a note) when the bytes are no readable tensor table.
std::optional<model::TensorTable> read_tensor_table(const std::string& source, std::string_view bytes,
                                                    Notes& notes);

}  // namespace inquest::evidence
