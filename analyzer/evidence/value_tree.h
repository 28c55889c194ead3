// The values of one pickle or JSON document: passive data, no objects, no code.
//
// Values are 16 bytes. Strings point into the document's bytes, which must outlive the tree, or into text
// that the tree owns or keeps. Containers are numbers, so a value that occurs many times (a shared or even a
// cyclic pickle) costs its size once; whoever walks a tree must bound its own walk.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inquest::evidence {

enum class ValueKind : uint8_t { kNone, kBool, kInteger, kReal, kString, kBytes, kList, kTuple, kDict };

class Value {
 public:
    Value() = default;
    static Value boolean(bool value) { return integral(ValueKind::kBool, value ? 1 : 0); }
    static Value integer(int64_t value) { return integral(ValueKind::kInteger, value); }
    static Value real(double value);
    static Value text(ValueKind kind, std::string_view text) {
        Value result;
        result.kind_ = kind;
        result.size_ = static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX));
        result.characters = text.data();
        return result;
    }
    static Value container(ValueKind kind, uint32_t number) { return integral(kind, number); }

    ValueKind kind() const { return kind_; }
    bool is_text() const { return kind_ == ValueKind::kString || kind_ == ValueKind::kBytes; }
    bool is_container() const { return kind_ >= ValueKind::kList; }
    // Defaults for values of another kind: the empty text, nullopt.
    std::string_view as_text() const {
        return is_text() ? std::string_view(characters, size_) : std::string_view();
    }
    std::optional<int64_t> as_integer() const {
        return kind_ == ValueKind::kInteger ? std::optional<int64_t>(number) : std::nullopt;
    }
    std::optional<double> as_real() const;
    std::optional<bool> as_boolean() const {
        return kind_ == ValueKind::kBool ? std::optional<bool>(number != 0) : std::nullopt;
    }
    uint32_t container_number() const { return static_cast<uint32_t>(number); }

 private:
    static Value integral(ValueKind kind, int64_t value) {
        Value result;
        result.kind_ = kind;
        result.number = value;
        return result;
    }

    ValueKind kind_ = ValueKind::kNone;
    uint32_t size_ = 0;
    union {
        int64_t number = 0;
        double fraction;
        const char* characters;
    };
};

// A run of values inside a tree; valid until the tree changes.
struct Values {
    const Value* first = nullptr;
    size_t count = 0;
    const Value* begin() const { return first; }
    const Value* end() const { return first + count; }
    const Value& operator[](size_t i) const { return first[i]; }
};

class ValueTree {
 public:
    Value new_container(ValueKind kind);
    // `values` may not point into the tree. A dict holds key, value, key, value, ... in document order.
    void append(Value container, const Value* values, size_t count);
    // Of a container that is still empty: room for `count` values, all None; then each is set once or more.
    // False beyond the room.
    void resize(Value container, size_t count);
    bool set(Value container, size_t index, Value value);
    Value own_text(std::string text);
    // Owns what texts of the tree point into.
    void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

    // Empty for values that are no containers.
    Values items(Value container) const {
        if (!container.is_container()) return {};
        const Slice& slice = containers_[container.container_number()];
        return {items_.data() + slice.first, slice.count};
    }
    // Last value of `key` in a dict; nullptr when absent.
    const Value* find(Value dict, std::string_view key) const;
    size_t size() const { return items_.size(); }

 private:
    struct Slice {
        uint32_t first = 0;
        uint32_t count = 0;
        uint32_t capacity = 0;
    };
    void make_room(Slice& slice, size_t more);

    std::vector<Slice> containers_;
    std::vector<Value> items_;
    std::deque<std::string> texts_;
    std::shared_ptr<const void> owner_;
};

// What a reader made of a document.
struct Document {
    ValueTree tree;
    Value root;
    std::string damage;  // empty: whole. Else what stopped the reader; root holds what came before.
};

}  // namespace inquest::evidence
