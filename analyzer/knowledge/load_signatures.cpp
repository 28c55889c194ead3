#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "analyzer/knowledge/signature.h"
#include "analyzer/knowledge/yaml_fields.h"
#include "analyzer/model/fact_vocabulary.h"

namespace inquest::knowledge {
namespace {

constexpr size_t kPatternMaxBytes = 512;

Role read_role(const YamlFields& fields) {
    const std::string word = fields.text("role");
    for (const Role role : {Role::kWitness, Role::kCulprit, Role::kContext, Role::kHarmless}) {
        if (word == role_name(role)) return role;
    }
    fields.fail(LoadErrorCode::kUnknownValue, fmt::format("'role' cannot be '{}'", word));
}

std::vector<Signature::Capture> read_captures(const YamlFields& fields) {
    std::vector<Signature::Capture> captures;
    for (const YamlFields& item : fields.mappings("captures")) {
        item.allow_only({"name", "after", "word"});
        captures.push_back({item.text("name"), item.text("after"), !item.flag("word")});
    }
    return captures;
}

void check_attribute(const YamlFields& fields, const std::string& fact, const std::string& name) {
    if (name == "rank" || model::has_word(model::find_fact(fact)->attributes, name)) return;
    fields.fail(LoadErrorCode::kUnknownFact, fmt::format("fact '{}' has no attribute '{}'", fact, name));
}

void read_stated_fact(const YamlFields& fields, Signature& signature) {
    signature.states = fields.text_or("states", "");
    const std::string fact = signature.states.empty() ? "log_line" : signature.states;
    if (model::find_fact(fact) == nullptr) {
        fields.fail(LoadErrorCode::kUnknownFact, fmt::format("no fact '{}'", fact));
    }
    for (const Signature::Capture& capture : signature.captures)
        check_attribute(fields, fact, capture.name);
    if (!fields.has("attributes")) return;
    const YamlFields attributes = fields.mapping("attributes");
    for (const std::string& name : attributes.names()) {
        check_attribute(attributes, fact, name);
        signature.attributes[name] = attributes.text(name);
    }
}

void check_patterns(const YamlFields& fields, const Signature& signature) {
    if (signature.literals.empty() && signature.patterns.empty()) {
        fields.fail(LoadErrorCode::kMissingField, "a signature needs 'literals' or 'patterns'");
    }
    for (const auto* list : {&signature.literals, &signature.patterns}) {
        for (const std::string& pattern : *list) {
            if (!pattern.empty() && pattern.size() <= kPatternMaxBytes) continue;
            fields.fail(LoadErrorCode::kBadPattern,
                        fmt::format("a pattern has 1 to {} bytes", kPatternMaxBytes));
        }
    }
}

Signature read_signature(const YamlFields& fields) {
    fields.allow_only({"id", "literals", "patterns", "role", "in", "known_as", "meaning", "captures",
                       "states", "attributes"});
    Signature signature;
    signature.id = fields.text("id");
    signature.literals = fields.texts_or_none("literals");
    signature.patterns = fields.texts_or_none("patterns");
    signature.role = read_role(fields);
    const std::string in = fields.text_or("in", "both");
    signature.in_logs = in != "exceptions";
    signature.in_exceptions = in != "logs";
    signature.known_as = fields.text_or("known_as", "");
    signature.meaning = fields.text("meaning");
    signature.captures = read_captures(fields);
    read_stated_fact(fields, signature);
    check_patterns(fields, signature);
    return signature;
}

template <typename Load>
tl::expected<std::vector<Signature>, LoadError> guarded(const std::string& shown_as, Load load) {
    try {
        const YamlFields fields(load(), shown_as);
        fields.allow_only({"signatures"});
        std::vector<Signature> signatures;
        for (const YamlFields& item : fields.mappings("signatures"))
            signatures.push_back(read_signature(item));
        return signatures;
    } catch (const FieldError& error) {
        return tl::unexpected(error.error);
    } catch (const YAML::BadFile&) {
        return tl::unexpected(LoadError{LoadErrorCode::kUnreadable, shown_as, 0, "cannot be read"});
    } catch (const YAML::Exception& error) {
        return tl::unexpected(
            LoadError{LoadErrorCode::kNotYaml, shown_as, error.mark.line + 1, "not YAML: " + error.msg});
    }
}

}  // namespace

tl::expected<std::vector<Signature>, LoadError> load_signatures(const std::string& file,
                                                                const std::string& shown_as) {
    return guarded(shown_as, [&] { return YAML::LoadFile(file); });
}

tl::expected<std::vector<Signature>, LoadError> parse_signatures(const std::string& yaml,
                                                                 const std::string& shown_as) {
    return guarded(shown_as, [&] { return YAML::Load(yaml); });
}

}  // namespace inquest::knowledge
