#include "analyzer/knowledge/load_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/knowledge/template_text.h"
#include "analyzer/model/fact_vocabulary.h"

namespace inquest::knowledge {
namespace {

// Placeholders that only the texts of a rule have, beside those of its subject.
constexpr std::string_view kRulePlaceholders = "collateral job";
constexpr std::string_view kEnds = "hang slow crash exit silent healthy unknown observed";

template <typename Value, size_t kSize>
Value read_word(const YamlFields& fields, const std::string& name, Value fallback,
                const std::array<std::pair<std::string_view, Value>, kSize>& words) {
    if (!fields.has(name)) return fallback;
    const std::string word = fields.text(name);
    for (const auto& [known, value] : words) {
        if (known == word) return value;
    }
    fields.fail(LoadErrorCode::kUnknownValue, fmt::format("'{}' cannot be '{}'", name, word));
}

void check_placeholders(const YamlFields& fields, const std::string& text, std::string_view fact_attributes,
                        std::string_view extra) {
    const std::vector<std::string>& common = common_placeholders();
    for (const std::string& name : placeholders(text)) {
        const bool known = model::has_word(fact_attributes, name) || model::has_word(extra, name) ||
                           std::find(common.begin(), common.end(), name) != common.end();
        if (!known) {
            fields.fail(LoadErrorCode::kBadPlaceholder, fmt::format("no placeholder '{{{}}}' here", name));
        }
    }
}

std::string_view attributes_of(const Condition& condition) {
    return model::find_fact(condition.fact)->attributes;
}

void read_where(const YamlFields& fields, Condition& condition) {
    if (!fields.has("where")) return;
    const YamlFields where = fields.mapping("where");
    for (const std::string& name : where.names()) {
        if (!model::has_word(attributes_of(condition), name)) {
            where.fail(LoadErrorCode::kUnknownFact,
                       fmt::format("fact '{}' has no attribute '{}'", condition.fact, name));
        }
        condition.where[name] = where.values(name);
    }
}

Condition read_condition(const YamlFields& fields) {
    fields.allow_only({"fact", "where", "ranks", "when", "weight", "text"});
    Condition condition;
    condition.fact = fields.text("fact");
    if (model::find_fact(condition.fact) == nullptr) {
        fields.fail(LoadErrorCode::kUnknownFact, fmt::format("no detector states '{}'", condition.fact));
    }
    read_where(fields, condition);
    condition.ranks = read_word(
        fields, "ranks", RankRelation::kAny,
        std::array<std::pair<std::string_view, RankRelation>, 3>{
            {{"any", RankRelation::kAny}, {"same", RankRelation::kSame}, {"other", RankRelation::kOther}}});
    condition.when = read_word(
        fields, "when", TimeRelation::kAny,
        std::array<std::pair<std::string_view, TimeRelation>, 3>{{{"any", TimeRelation::kAny},
                                                                  {"before", TimeRelation::kBefore},
                                                                  {"after", TimeRelation::kAfter}}});
    condition.weight = read_word(fields, "weight", Weight::kNone,
                                 std::array<std::pair<std::string_view, Weight>, 2>{
                                     {{"strengthens", Weight::kStrengthen}, {"weakens", Weight::kWeaken}}});
    condition.text = fields.text_or("text", "");
    check_placeholders(fields, condition.text, attributes_of(condition), "");
    return condition;
}

std::vector<Condition> read_conditions(const YamlFields& fields, const std::string& name) {
    std::vector<Condition> conditions;
    for (const YamlFields& item : fields.mappings(name))
        conditions.push_back(read_condition(item));
    return conditions;
}

model::Confidence read_confidence(const YamlFields& fields) {
    using model::Confidence;
    return read_word(
        fields, "confidence", Confidence::kUnknown,
        std::array<std::pair<std::string_view, Confidence>, 4>{{{"certain", Confidence::kCertain},
                                                                {"likely", Confidence::kLikely},
                                                                {"possible", Confidence::kPossible},
                                                                {"unknown", Confidence::kUnknown}}});
}

void read_rule_texts(const YamlFields& fields, Rule& rule) {
    rule.headline = fields.text("headline");
    rule.summary = fields.text("summary");
    rule.initiator = fields.text_or("initiator", "");
    rule.missing_fact = fields.text_or("missing_fact", "");
    const std::string_view attributes = rule.subject ? attributes_of(*rule.subject) : "";
    for (const std::string* text : {&rule.headline, &rule.summary, &rule.initiator, &rule.missing_fact}) {
        check_placeholders(fields, *text, attributes, kRulePlaceholders);
    }
}

Rule read_rule(const YamlFields& fields) {
    fields.allow_only({"id", "subject", "all", "any", "none", "confidence", "family", "end", "headline",
                       "summary", "initiator", "missing_fact", "blames"});
    Rule rule;
    rule.id = fields.text("id");
    if (fields.has("subject")) rule.subject = read_condition(fields.mapping("subject"));
    rule.all = read_conditions(fields, "all");
    rule.any = read_conditions(fields, "any");
    rule.none = read_conditions(fields, "none");
    rule.confidence = read_confidence(fields);
    rule.family = fields.text_or("family", "");
    rule.end = fields.text("end");
    if (!model::has_word(kEnds, rule.end)) {
        fields.fail(LoadErrorCode::kUnknownValue, fmt::format("'end' cannot be '{}'", rule.end));
    }
    rule.blames = !fields.has("blames") || fields.flag("blames");
    read_rule_texts(fields, rule);
    return rule;
}

}  // namespace

std::vector<Rule> read_rules(const YamlFields& fields) {
    std::vector<Rule> rules;
    for (const YamlFields& item : fields.mappings("rules"))
        rules.push_back(read_rule(item));
    if (rules.empty()) fields.fail(LoadErrorCode::kMissingField, "field 'rules' is missing or empty");
    return rules;
}

std::vector<Condition> read_told_conditions(const YamlFields& fields, const std::string& name) {
    std::vector<Condition> conditions = read_conditions(fields, name);
    for (const Condition& condition : conditions) {
        if (condition.text.empty()) {
            fields.fail(LoadErrorCode::kMissingField, fmt::format("an entry of '{}' has no text", name));
        }
    }
    return conditions;
}

}  // namespace inquest::knowledge
