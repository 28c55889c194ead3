#include "analyzer/knowledge/load_error.h"

#include <fmt/format.h>

namespace inquest::knowledge {

std::string LoadError::describe() const {
    const std::string where = line > 0 ? fmt::format("{}:{}", file, line) : file;
    return fmt::format("K{:03} {}: {}", static_cast<int>(code), where, text);
}

}  // namespace inquest::knowledge
