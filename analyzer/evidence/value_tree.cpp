#include "analyzer/evidence/value_tree.h"

#include <algorithm>

namespace inquest::evidence {

Value Value::real(double value) {
    Value result;
    result.kind_ = ValueKind::kReal;
    result.fraction = value;
    return result;
}

std::optional<double> Value::as_real() const {
    if (kind_ == ValueKind::kReal) return fraction;
    if (kind_ == ValueKind::kInteger) return static_cast<double>(number);
    return std::nullopt;
}

Value ValueTree::new_container(ValueKind kind) {
    containers_.emplace_back();
    return Value::container(kind, static_cast<uint32_t>(containers_.size() - 1));
}

// A container that is not the last one in items_ moves behind it, with twice its room: linear over all.
void ValueTree::make_room(Slice& slice, size_t more) {
    const size_t needed = slice.count + more;
    if (needed <= slice.capacity) return;
    const size_t old_first = slice.first;
    slice.first = static_cast<uint32_t>(items_.size());
    slice.capacity = static_cast<uint32_t>(std::max<size_t>(needed, 2 * size_t{slice.count}));
    items_.resize(slice.first + size_t{slice.capacity});
    std::copy_n(items_.begin() + static_cast<ptrdiff_t>(old_first), slice.count,
                items_.begin() + slice.first);
}

void ValueTree::append(Value container, const Value* values, size_t count) {
    Slice& slice = containers_[container.container_number()];
    if (count == 0) return;
    if (slice.count == 0) slice.first = static_cast<uint32_t>(items_.size());
    if (slice.first + size_t{slice.count} == items_.size()) {
        items_.insert(items_.end(), values, values + count);
        slice.capacity = slice.count + static_cast<uint32_t>(count);
    } else {
        make_room(slice, count);
        std::copy_n(values, count, items_.begin() + slice.first + slice.count);
    }
    slice.count += static_cast<uint32_t>(count);
}

void ValueTree::resize(Value container, size_t count) {
    Slice& slice = containers_[container.container_number()];
    slice.first = static_cast<uint32_t>(items_.size());
    slice.count = slice.capacity = static_cast<uint32_t>(count);
    items_.resize(items_.size() + count);
}

bool ValueTree::set(Value container, size_t index, Value value) {
    const Slice& slice = containers_[container.container_number()];
    if (index >= slice.count) return false;
    items_[slice.first + index] = value;
    return true;
}

Value ValueTree::own_text(std::string text) {
    texts_.push_back(std::move(text));
    return Value::text(ValueKind::kString, texts_.back());
}

const Value* ValueTree::find(Value dict, std::string_view key) const {
    if (dict.kind() != ValueKind::kDict) return nullptr;
    const Values pairs = items(dict);
    for (size_t i = pairs.count / 2; i-- > 0;) {
        if (pairs[2 * i].as_text() == key) return &pairs[2 * i + 1];
    }
    return nullptr;
}

}  // namespace inquest::evidence
