#include "epilog/hostlist.h"

#include <slurm/slurm.h>

#include <cstdlib>

namespace inquest::epilog {

std::vector<std::string> expand_hostlist(const std::string& hostlist) {
    std::vector<std::string> names;
    if (hostlist.empty()) return names;
    /* The type is a pointer or a struct behind one, depending on the version. */
    auto list = slurm_hostlist_create(hostlist.c_str());
    if (list == nullptr) return names;
    const int count = slurm_hostlist_count(list);
    if (count > 0 && static_cast<std::size_t>(count) <= kMaxNodes)
        names.reserve(static_cast<std::size_t>(count));
    while (names.capacity() > names.size()) {
        char* name = slurm_hostlist_shift(list);
        if (name == nullptr) break;
        names.emplace_back(name);
        free(name); /* malloc'ed by slurm_hostlist_shift (slurm.h) */
    }
    slurm_hostlist_destroy(list);
    return names;
}

}  // namespace inquest::epilog
