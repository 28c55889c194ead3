#include "spank/replicas/model_names.h"

#include <algorithm>

namespace inquest::replicas {
namespace {

/* The bits of a mask. Of a model that changes its size again and again the later names tell nothing more. */
constexpr size_t kMaxNames = 64;

bool has_bit(uint64_t used, size_t number) {
    return (used >> number & 1U) != 0;
}

}  // namespace

bool ModelNames::add(uint32_t index, const StateDigest& digest) {
    const Name name{digest.promise, digest.promise == 0 ? digest.place : 0, digest.tensors};
    const auto found = std::find(names_.begin(), names_.end(), name);
    const auto number = static_cast<size_t>(found - names_.begin());
    if (number >= kMaxNames || (found != names_.end() && has_bit(used_[index], number))) return false;
    if (found == names_.end()) names_.push_back(name);
    used_[index] |= uint64_t{1} << number;
    return true;
}

bool ModelNames::have_common(uint32_t one, uint32_t other, bool with_place) const {
    if ((used_[one] & used_[other]) != 0) return true;
    if (with_place) return false;
    for (size_t number = 0; number < names_.size(); number++)
        if (has_bit(used_[one], number) && is_used_elsewhere(names_[number], used_[other])) return true;
    return false;
}

bool ModelNames::is_used_elsewhere(const Name& name, uint64_t used) const {
    for (size_t number = 0; number < names_.size(); number++)
        if (has_bit(used, number) && names_[number].promise == name.promise &&
            names_[number].tensors == name.tensors)
            return true;
    return false;
}

}  // namespace inquest::replicas
