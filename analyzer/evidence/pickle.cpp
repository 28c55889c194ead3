#include "analyzer/evidence/pickle.h"

#include <bit>

#include "analyzer/evidence/pickle_machine.h"

namespace inquest::evidence {

namespace {

constexpr size_t kMostOpenMarks = 1024;

std::string position_text(size_t at) {
    return " at byte " + std::to_string(at);
}

}  // namespace

bool looks_like_pickle(std::string_view bytes) {
    return bytes.size() >= 2 && static_cast<uint8_t>(bytes[0]) == 0x80 && bytes[1] >= 2 && bytes[1] <= 5;
}

Document read_pickle(std::string_view bytes, const Limits& limits) {
    return PickleMachine(bytes, limits).run();
}

Document PickleMachine::run() && {
    bool good = true;
    while (good && !stopped_) {
        if (at_ == bytes_.size()) {
            good = fail("truncated");
        } else {
            good = step(static_cast<Opcode>(bytes_[at_++]));
        }
    }
    if (good && stack_.size() != 1) good = fail("does not end with one value");
    if (!good) salvage();
    if (!stack_.empty()) document_.root = stack_.front();
    return std::move(document_);
}

bool PickleMachine::fail(std::string_view what) {
    document_.damage = "pickle: " + std::string(what) + position_text(at_);
    return false;
}

// What entries of a flight recorder are made of comes first.
bool PickleMachine::step(Opcode opcode) {
    uint64_t bits = 0;
    switch (opcode) {
        case Opcode::kBinGet:
            return take<1>(bits) && get(bits);
        case Opcode::kLongBinGet:
            return take<4>(bits) && get(bits);
        case Opcode::kBinInt1:
            return take<1>(bits) && push(Value::integer(static_cast<int64_t>(bits)));
        case Opcode::kBinInt2:
            return take<2>(bits) && push(Value::integer(static_cast<int64_t>(bits)));
        case Opcode::kBinInt:
            return take<4>(bits) && push(Value::integer(static_cast<int32_t>(bits)));
        case Opcode::kLong1:
            return take<1>(bits) && push_long(bits);
        case Opcode::kNone:
            return push(Value());
        case Opcode::kNewTrue:
            return push(Value::boolean(true));
        case Opcode::kNewFalse:
            return push(Value::boolean(false));
        case Opcode::kMark:
            if (marks_.size() >= kMostOpenMarks) return fail("nested too deeply");
            marks_.push_back(stack_.size());
            return true;
        case Opcode::kEmptyList:
            return push_new(ValueKind::kList);
        case Opcode::kEmptyDict:
            return push_new(ValueKind::kDict);
        case Opcode::kAppends:
        case Opcode::kSetItems:
            return append_from_mark();
        default:
            return step_text(opcode);
    }
}

bool PickleMachine::step_text(Opcode opcode) {
    uint64_t size = 0;
    switch (opcode) {
        case Opcode::kShortBinUnicode:
        case Opcode::kShortBinString:
            return take<1>(size) && push_text(ValueKind::kString, size);
        case Opcode::kBinUnicode:
        case Opcode::kBinString:
            return take<4>(size) && push_text(ValueKind::kString, size);
        case Opcode::kBinUnicode8:
            return take<8>(size) && push_text(ValueKind::kString, size);
        case Opcode::kShortBinBytes:
            return take<1>(size) && push_text(ValueKind::kBytes, size);
        case Opcode::kBinBytes:
            return take<4>(size) && push_text(ValueKind::kBytes, size);
        case Opcode::kBinBytes8:
            return take<8>(size) && push_text(ValueKind::kBytes, size);
        default:
            return step_container(opcode);
    }
}

bool PickleMachine::step_container(Opcode opcode) {
    switch (opcode) {
        case Opcode::kEmptyTuple:
            return push_new(ValueKind::kTuple);
        case Opcode::kList:
            return collect_from_mark(ValueKind::kList);
        case Opcode::kTuple:
            return collect_from_mark(ValueKind::kTuple);
        case Opcode::kDict:
            return collect_from_mark(ValueKind::kDict);
        case Opcode::kTuple1:
            return collect(ValueKind::kTuple, 1);
        case Opcode::kTuple2:
            return collect(ValueKind::kTuple, 2);
        case Opcode::kTuple3:
            return collect(ValueKind::kTuple, 3);
        case Opcode::kAppend:
            return append(1);
        case Opcode::kSetItem:
            return append(2);
        default:
            return step_memo(opcode);
    }
}

bool PickleMachine::step_memo(Opcode opcode) {
    uint64_t index = 0;
    switch (opcode) {
        case Opcode::kBinPut:
            return take<1>(index) && put(index);
        case Opcode::kLongBinPut:
            return take<4>(index) && put(index);
        case Opcode::kMemoize:
            return put(memo_.size());
        default:
            return step_rare(opcode);
    }
}

bool PickleMachine::step_rare(Opcode opcode) {
    uint64_t bits = 0;
    switch (opcode) {
        case Opcode::kProto:
            if (!take<1>(bits)) return false;
            return bits <= 5 || fail("protocol " + std::to_string(bits) + " is not known");
        case Opcode::kFrame:
            return take<8>(bits);  // the size of what follows: not needed
        case Opcode::kStop:
            stopped_ = true;
            return true;
        case Opcode::kPop:
            return marks_.empty() || above_mark() > 0 ? pop(1) : pop_mark();
        case Opcode::kPopMark:
            return pop_mark();
        case Opcode::kDup:
            return has_above_mark(1) ? push(stack_.back()) : fail("empty stack");
        case Opcode::kLong4:
            return take<4>(bits) && push_long(bits);
        case Opcode::kBinFloat:
            return take<8>(bits) && push(Value::real(std::bit_cast<double>(__builtin_bswap64(bits))));
        default:
            return refuse(opcode);
    }
}

bool PickleMachine::refuse(Opcode opcode) {
    if (const char* name = refused_opcode_name(opcode)) {
        return fail(std::string("refused ") + name + ", which is no plain data,");
    }
    return fail("unknown opcode " + std::to_string(static_cast<int>(opcode)));
}

template <size_t kSize>
bool PickleMachine::take(uint64_t& value) {
    if (bytes_.size() - at_ < kSize) return fail("truncated");
    value = 0;
    for (size_t i = 0; i < kSize; ++i) {
        value |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += kSize;
    return true;
}

bool PickleMachine::has_above_mark(size_t count) const {
    return stack_.size() - (marks_.empty() ? 0 : marks_.back()) >= count;
}

bool PickleMachine::push(Value value) {
    if (stack_.size() + document_.tree.size() >= limits_.tree_values) return fail("too many values");
    stack_.push_back(value);
    return true;
}

bool PickleMachine::push_text(ValueKind kind, uint64_t size) {
    if (bytes_.size() - at_ < size) return fail("truncated");
    const std::string_view text = bytes_.substr(at_, size);
    at_ += size;
    return push(Value::text(kind, text));
}

// Two's complement of any length; beyond 64 bits only the sign matters to us.
bool PickleMachine::push_long(uint64_t size) {
    if (bytes_.size() - at_ < size) return fail("truncated");
    if (size == 0) return push(Value::integer(0));
    const std::string_view digits = bytes_.substr(at_, size);
    const bool negative = (static_cast<uint8_t>(digits.back()) & 0x80U) != 0;
    at_ += size;
    if (size > 8) return push(Value::integer(negative ? INT64_MIN : INT64_MAX));
    uint64_t bits = negative ? ~uint64_t{0} : 0;
    for (size_t i = size; i-- > 0;)
        bits = (bits << 8U) | static_cast<uint8_t>(digits[i]);
    return push(Value::integer(static_cast<int64_t>(bits)));
}

bool PickleMachine::push_new(ValueKind kind) {
    return push(document_.tree.new_container(kind));
}

bool PickleMachine::pop(size_t count) {
    if (!has_above_mark(count)) return fail("empty stack");
    stack_.resize(stack_.size() - count);
    return true;
}

bool PickleMachine::pop_mark() {
    if (marks_.empty()) return fail("no mark");
    stack_.resize(marks_.back());
    marks_.pop_back();
    return true;
}

bool PickleMachine::collect(ValueKind kind, size_t count) {
    if (!has_above_mark(count)) return fail("empty stack");
    const Value container = document_.tree.new_container(kind);
    document_.tree.append(container, stack_.data() + stack_.size() - count, count);
    stack_.resize(stack_.size() - count);
    return push(container);
}

bool PickleMachine::collect_from_mark(ValueKind kind) {
    if (marks_.empty()) return fail("no mark");
    const size_t count = above_mark();
    if (kind == ValueKind::kDict && count % 2 != 0) return fail("key without value");
    const bool collected = collect(kind, count);
    marks_.pop_back();
    return collected;
}

// The container is below the topmost `count` values.
bool PickleMachine::append(size_t count) {
    if (!has_above_mark(count + 1)) return fail("empty stack");
    const Value container = stack_[stack_.size() - count - 1];
    const bool is_pairs = container.kind() == ValueKind::kDict;
    if (!is_pairs && container.kind() != ValueKind::kList) return fail("appends to a value of another kind");
    if (is_pairs && count % 2 != 0) return fail("key without value");
    if (document_.tree.size() + count > limits_.tree_values) return fail("too many values");
    document_.tree.append(container, stack_.data() + stack_.size() - count, count);
    stack_.resize(stack_.size() - count);
    return true;
}

bool PickleMachine::append_from_mark() {
    if (marks_.empty()) return fail("no mark");
    const size_t count = above_mark();
    marks_.pop_back();
    return append(count);
}

bool PickleMachine::put(uint64_t index) {
    if (!has_above_mark(1)) return fail("empty stack");
    // Writers number the memo in order, so no index exceeds the bytes that it took to come here.
    if (index > at_) return fail("memo index out of order");
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = stack_.back();
    return true;
}

bool PickleMachine::get(uint64_t index) {
    return index < memo_.size() ? push(memo_[index]) : fail("unknown memo index");
}

// Closes every container that was open when the input ended, innermost first.
void PickleMachine::salvage() {
    const std::string damage = document_.damage;
    while (!marks_.empty()) {
        size_t count = above_mark();
        const size_t base = marks_.back();
        marks_.pop_back();
        const bool into_dict = base > 0 && stack_[base - 1].kind() == ValueKind::kDict;
        if (into_dict && count % 2 != 0) {
            stack_.pop_back();
            --count;
        }
        if (!has_above_mark(count + 1) || !append(count)) stack_.resize(base);
    }
    document_.damage = damage;
}

}  // namespace inquest::evidence
