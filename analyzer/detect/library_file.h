// Which source files are not the user's program.
#pragma once
#include <string_view>

namespace inquest::detect {

// Whether the file belongs to an installed package, to Python itself or to Inquest's hook, by its path.
bool is_library_file(std::string_view file);

}  // namespace inquest::detect
