// Writes a whole file for its owner alone.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace inquest::cli {

// Replaces `name` in `directory` by rename, mode 0600. The error is a sentence for a person.
tl::expected<void, std::string> write_file(const std::string& directory, const std::string& name,
                                           std::string_view content);

}  // namespace inquest::cli
