/* Makes text safe for a terminal. */
#pragma once

#include <string>
#include <string_view>

namespace inquest::launch {

/* Keeps line feeds, printable ASCII and well-formed UTF-8 beyond the C1 controls; every other byte becomes
 * '?'. */
std::string printable(std::string_view text);

}  // namespace inquest::launch
