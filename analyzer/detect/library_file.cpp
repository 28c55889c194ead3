#include "analyzer/detect/library_file.h"

#include <algorithm>
#include <array>

namespace inquest::detect {

bool is_library_file(std::string_view file) {
    constexpr std::array<std::string_view, 6> kParts = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                                        "/lib64/python3",  "/inquest_hook/",  "<frozen "};
    return std::any_of(kParts.begin(), kParts.end(),
                       [&](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

}  // namespace inquest::detect
