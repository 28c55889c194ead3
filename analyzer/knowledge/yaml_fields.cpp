#include "analyzer/knowledge/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace inquest::knowledge {

YamlFields::YamlFields(const YAML::Node& node, std::string file) : node_(node), file_(std::move(file)) {
    if (!node_.IsMap()) fail(LoadErrorCode::kWrongType, "a mapping is expected here");
}

void YamlFields::fail_at(const YAML::Node& node, LoadErrorCode code, const std::string& text) const {
    const int line = node.IsDefined() ? node.Mark().line + 1 : 0;
    throw FieldError{LoadError{code, file_, std::max(line, 0), text}};
}

void YamlFields::fail(LoadErrorCode code, const std::string& text) const {
    fail_at(node_, code, text);
}

void YamlFields::allow_only(std::initializer_list<std::string_view> names) const {
    for (const auto& item : node_) {
        const std::string name = scalar(item.first, "name");
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            fail_at(item.first, LoadErrorCode::kUnknownField,
                    fmt::format("field '{}' is not known here", name));
        }
    }
}

YAML::Node YamlFields::optional(const std::string& name) const {
    // operator[] on a const node does not insert.
    const YAML::Node& constant = node_;
    return constant[name];
}

YAML::Node YamlFields::required(const std::string& name) const {
    YAML::Node node = optional(name);
    if (!node.IsDefined() || node.IsNull()) {
        fail(LoadErrorCode::kMissingField, fmt::format("field '{}' is missing", name));
    }
    return node;
}

std::string YamlFields::scalar(const YAML::Node& node, const std::string& name) const {
    if (!node.IsScalar()) fail_at(node, LoadErrorCode::kWrongType, fmt::format("'{}' must be a text", name));
    return node.Scalar();
}

bool YamlFields::has(const std::string& name) const {
    return optional(name).IsDefined();
}

std::string YamlFields::text(const std::string& name) const {
    const YAML::Node node = required(name);
    std::string value = scalar(node, name);
    while (!value.empty() && value.back() == '\n')
        value.pop_back();
    if (value.empty()) fail_at(node, LoadErrorCode::kMissingField, fmt::format("field '{}' is empty", name));
    return value;
}

std::string YamlFields::text_or(const std::string& name, const std::string& fallback) const {
    return has(name) ? text(name) : fallback;
}

bool YamlFields::flag(const std::string& name) const {
    if (!has(name)) return false;
    const std::string value = text(name);
    if (value != "true" && value != "false") {
        fail_at(required(name), LoadErrorCode::kWrongType, fmt::format("'{}' must be true or false", name));
    }
    return value == "true";
}

int YamlFields::number(const std::string& name) const {
    const YAML::Node node = required(name);
    int value = 0;
    if (!YAML::convert<int>::decode(node, value)) {
        fail_at(node, LoadErrorCode::kWrongType, fmt::format("'{}' must be a whole number", name));
    }
    return value;
}

std::vector<std::string> YamlFields::values(const std::string& name) const {
    const YAML::Node node = required(name);
    if (node.IsScalar()) return {node.Scalar()};
    return texts(name);
}

std::vector<std::string> YamlFields::texts(const std::string& name) const {
    const YAML::Node node = required(name);
    if (!node.IsSequence() || node.size() == 0) {
        fail_at(node, LoadErrorCode::kWrongType, fmt::format("'{}' must be a list of texts", name));
    }
    std::vector<std::string> result;
    for (const YAML::Node& item : node)
        result.push_back(scalar(item, name));
    return result;
}

std::vector<std::string> YamlFields::texts_or_none(const std::string& name) const {
    const YAML::Node node = optional(name);
    if (!node.IsDefined() || (node.IsSequence() && node.size() == 0)) return {};
    return texts(name);
}

std::vector<YamlFields> YamlFields::mappings(const std::string& name) const {
    std::vector<YamlFields> result;
    if (!has(name)) return result;
    const YAML::Node node = required(name);
    if (!node.IsSequence())
        fail_at(node, LoadErrorCode::kWrongType, fmt::format("'{}' must be a list", name));
    for (const YAML::Node& item : node)
        result.emplace_back(item, file_);
    return result;
}

YamlFields YamlFields::mapping(const std::string& name) const {
    return YamlFields(required(name), file_);
}

std::vector<std::string> YamlFields::names() const {
    std::vector<std::string> result;
    for (const auto& item : node_)
        result.push_back(scalar(item.first, "name"));
    return result;
}

}  // namespace inquest::knowledge
