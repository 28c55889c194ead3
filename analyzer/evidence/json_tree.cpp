#include "analyzer/evidence/json_tree.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace inquest::evidence {

namespace {

constexpr size_t kMostDepth = 64;

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

}  // namespace

Document read_json(std::string_view bytes, const Limits& limits) {
    Document document;
    TreeBuilder builder(document, limits);
    nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder, nlohmann::json::input_format_t::json);
    builder.finish();
    return document;
}

}  // namespace inquest::evidence
