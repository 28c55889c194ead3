#include "analyzer/evidence/json_tree.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace inquest::evidence {

namespace {

constexpr size_t kMostDepth = 64;
// simdjson reserves about twelve times the size of what it parses.
constexpr size_t kMostFastBytes = size_t{32} * 1024 * 1024;

// Receives nlohmann::json's SAX events. An open container keeps its values on one stack until it ends.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
    TreeBuilder(Document& document, const Limits& limits) : document_(document), limits_(limits) {}

    bool null() override { return push(Value()); }
    bool boolean(bool value) override { return push(Value::boolean(value)); }
    bool number_integer(number_integer_t value) override { return push(Value::integer(value)); }
    bool number_unsigned(number_unsigned_t value) override {
        const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        return push(Value::integer(static_cast<int64_t>(std::min<uint64_t>(value, most))));
    }
    bool number_float(number_float_t value, const string_t& /*digits*/) override {
        return push(Value::real(value));
    }
    bool string(string_t& value) override { return push(document_.tree.own_text(std::move(value))); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool key(string_t& value) override {
        const auto known = keys_.find(value);
        if (known != keys_.end()) return push(known->second);
        const Value key = document_.tree.own_text(value);
        keys_.emplace(std::move(value), key);
        return push(key);
    }
    bool start_object(size_t /*elements*/) override { return open(ValueKind::kDict); }
    bool start_array(size_t /*elements*/) override { return open(ValueKind::kList); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        document_.damage = "JSON: malformed or truncated at byte " + std::to_string(position);
        return false;
    }

    void finish() {
        while (!open_.empty())
            close();
        if (!stack_.empty()) document_.root = stack_.front();
    }

 private:
    bool fail(const char* what) {
        document_.damage = std::string("JSON: ") + what;
        return false;
    }

    bool push(Value value) {
        if (stack_.size() + document_.tree.size() >= limits_.tree_values) return fail("too many values");
        stack_.push_back(value);
        return true;
    }

    bool open(ValueKind kind) {
        if (open_.size() >= kMostDepth) return fail("nested too deeply");
        if (!push(document_.tree.new_container(kind))) return false;
        open_.push_back(stack_.size());
        return true;
    }

    bool close() {
        const size_t base = open_.back();
        open_.pop_back();
        size_t count = stack_.size() - base;
        const Value container = stack_[base - 1];
        if (container.kind() == ValueKind::kDict) count -= count % 2;  // a key whose value never came
        document_.tree.append(container, stack_.data() + base, count);
        stack_.resize(base);
        return true;
    }

    Document& document_;
    const Limits& limits_;
    std::vector<Value> stack_;
    std::vector<size_t> open_;
    std::unordered_map<std::string, Value> keys_;  // the same few keys repeat
};

// Makes the tree of a document that simdjson has parsed. Recursive, kMostDepth deep at most.
class FastWalk {
 public:
    FastWalk(ValueTree& tree, size_t most_values) : tree_(tree), most_values_(most_values) {}

    // False when the document exceeds a bound.
    bool walk(const simdjson::dom::element& element, Value& value) {
        using simdjson::dom::element_type;
        switch (element.type()) {
            case element_type::ARRAY:
                return walk_array(as<simdjson::dom::array>(element), value);
            case element_type::OBJECT:
                return walk_object(as<simdjson::dom::object>(element), value);
            default:
                value = scalar(element);
                return true;
        }
    }

 private:
    template <typename T>
    static T as(const simdjson::dom::element& element) {
        return element.get<T>().value_unsafe();
    }

    static Value scalar(const simdjson::dom::element& element) {
        using simdjson::dom::element_type;
        switch (element.type()) {
            case element_type::INT64:
                return Value::integer(as<int64_t>(element));
            case element_type::UINT64:  // beyond INT64_MAX, else it would be INT64
                return Value::integer(INT64_MAX);
            case element_type::DOUBLE:
                return Value::real(as<double>(element));
            case element_type::STRING:
                return Value::text(ValueKind::kString, as<std::string_view>(element));
            case element_type::BOOL:
                return Value::boolean(as<bool>(element));
            default:
                return {};
        }
    }

    // Values are written where they stay: simdjson knows how many a container has.
    bool open(ValueKind kind, size_t count, Value& container) {
        if (depth_ >= kMostDepth || tree_.size() + count >= most_values_) return false;
        ++depth_;
        container = tree_.new_container(kind);
        tree_.resize(container, count);
        return true;
    }

    bool walk_array(const simdjson::dom::array& array, Value& value) {
        if (!open(ValueKind::kList, array.size(), value)) return false;
        size_t index = 0;
        for (const simdjson::dom::element element : array) {
            Value item;
            if (!walk(element, item) || !tree_.set(value, index++, item)) return false;
        }
        --depth_;
        return true;
    }

    bool walk_object(const simdjson::dom::object& object, Value& value) {
        if (!open(ValueKind::kDict, 2 * object.size(), value)) return false;
        size_t index = 0;
        for (const simdjson::dom::key_value_pair pair : object) {
            Value item;
            if (!walk(pair.value, item)) return false;
            const Value key = Value::text(ValueKind::kString, pair.key);
            if (!tree_.set(value, index++, key) || !tree_.set(value, index++, item)) return false;
        }
        --depth_;
        return true;
    }

    ValueTree& tree_;
    size_t most_values_;
    size_t depth_ = 0;
};

// nullopt for anything but a whole document within all bounds.
std::optional<Document> read_whole(std::string_view bytes, const Limits& limits) {
    const auto parser = std::make_shared<simdjson::dom::parser>(kMostFastBytes);
    simdjson::dom::element root;
    if (parser->parse(bytes.data(), bytes.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
    Document document;
    document.tree.keep(parser);
    if (!FastWalk(document.tree, limits.tree_values).walk(root, document.root)) return std::nullopt;
    return document;
}

}  // namespace

// What simdjson does not take as a whole nlohmann::json reads: it tells everything that came before the
// damage.
Document read_json(std::string_view bytes, const Limits& limits) {
    if (auto whole = read_whole(bytes, limits)) return std::move(*whole);
    Document document;
    TreeBuilder builder(document, limits);
    nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder, nlohmann::json::input_format_t::json);
    builder.finish();
    return document;
}

}  // namespace inquest::evidence
