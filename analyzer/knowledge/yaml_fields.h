// Reads typed fields out of a YAML mapping. Mistakes are thrown as FieldError, which only the load functions
// of this folder catch: no exception leaves analyzer/knowledge.
#pragma once
#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/knowledge/load_error.h"

namespace inquest::knowledge {

struct FieldError {
    LoadError error;
};

class YamlFields {
 public:
    // `node` must be a mapping. Throws FieldError.
    YamlFields(const YAML::Node& node, std::string file);

    void allow_only(std::initializer_list<std::string_view> names) const;
    bool has(const std::string& name) const;
    std::string text(const std::string& name) const;  // required, not empty
    std::string text_or(const std::string& name, const std::string& fallback) const;
    bool flag(const std::string& name) const;  // absent: false
    int number(const std::string& name) const;
    std::vector<std::string> texts(const std::string& name) const;  // required, not empty
    std::vector<std::string> texts_or_none(const std::string& name) const;
    std::vector<YamlFields> mappings(const std::string& name) const;  // absent: none
    YamlFields mapping(const std::string& name) const;
    std::vector<std::string> names() const;
    // A scalar or a sequence of scalars.
    std::vector<std::string> values(const std::string& name) const;

    const std::string& file() const { return file_; }
    [[noreturn]] void fail(LoadErrorCode code, const std::string& text) const;

 private:
    YAML::Node required(const std::string& name) const;
    YAML::Node optional(const std::string& name) const;
    std::string scalar(const YAML::Node& node, const std::string& name) const;
    [[noreturn]] void fail_at(const YAML::Node& node, LoadErrorCode code, const std::string& text) const;

    YAML::Node node_;
    std::string file_;
};

}  // namespace inquest::knowledge
