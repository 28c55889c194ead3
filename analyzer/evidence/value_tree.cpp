#include "analyzer/evidence/value_tree.h"

#include <algorithm>
#include <limits>

namespace inquest::evidence {

Value Value::integral(ValueKind kind, int64_t value) {
    Value result;
    result.kind_ = kind;
    result.number = value;
    return result;
}

Value Value::real(double value) {
    Value result;
    result.kind_ = ValueKind::kReal;
    result.fraction = value;
    return result;
}

Value Value::text(ValueKind kind, std::string_view text) {
    Value result;
    result.kind_ = kind;
    result.size_ = static_cast<uint32_t>(std::min<size_t>(text.size(), std::numeric_limits<uint32_t>::max()));
    result.characters = text.data();
    return result;
}

std::optional<int64_t> Value::as_integer() const {
    if (kind_ != ValueKind::kInteger) return std::nullopt;
    return number;
}

std::optional<double> Value::as_real() const {
    if (kind_ == ValueKind::kReal) return fraction;
    if (kind_ == ValueKind::kInteger) return static_cast<double>(number);
    return std::nullopt;
}

std::optional<bool> Value::as_boolean() const {
    if (kind_ != ValueKind::kBool) return std::nullopt;
    return number != 0;
}

Value ValueTree::new_container(ValueKind kind) {
    containers_.emplace_back();
    return Value::container(kind, static_cast<uint32_t>(containers_.size() - 1));
}

// A container that is not the last one in items_ moves behind it, with twice its room: linear over all.
void ValueTree::make_room(Slice& slice, size_t more) {
    const size_t needed = slice.count + more;
    if (needed <= slice.capacity) return;
    const bool is_last = slice.first + slice.capacity == items_.size();
    if (slice.count > 0 && !is_last) {
        const size_t old_first = slice.first;
        slice.first = static_cast<uint32_t>(items_.size());
        slice.capacity = static_cast<uint32_t>(std::max<size_t>(needed, 2 * size_t{slice.count}));
        items_.resize(slice.first + size_t{slice.capacity});
        std::copy_n(items_.begin() + static_cast<ptrdiff_t>(old_first), slice.count,
                    items_.begin() + slice.first);
        return;
    }
    if (slice.count == 0) slice.first = static_cast<uint32_t>(items_.size());
    slice.capacity = static_cast<uint32_t>(needed);
    items_.resize(slice.first + needed);
}

void ValueTree::append(Value container, const Value* values, size_t count) {
    Slice& slice = containers_[container.container_number()];
    if (count == 0) return;
    make_room(slice, count);
    std::copy_n(values, count, items_.begin() + slice.first + slice.count);
    slice.count += static_cast<uint32_t>(count);
}

Value ValueTree::own_text(std::string text) {
    texts_.push_back(std::move(text));
    return Value::text(ValueKind::kString, texts_.back());
}

Values ValueTree::items(Value container) const {
    if (!container.is_container()) return {};
    const Slice& slice = containers_[container.container_number()];
    return {items_.data() + slice.first, slice.count};
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
