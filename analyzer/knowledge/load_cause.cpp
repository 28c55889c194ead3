#include "analyzer/knowledge/load_cause.h"

#include <yaml-cpp/yaml.h>

#include "analyzer/knowledge/load_rules.h"
#include "analyzer/knowledge/yaml_fields.h"

namespace inquest::knowledge {
namespace {

model::Fix read_fix(const YamlFields& fields) {
    fields.allow_only({"name", "text", "code", "why"});
    return {fields.text("name"), fields.text("text"), fields.text_or("code", ""), fields.text("why")};
}

std::map<std::string, model::Fix> read_fixes(const YamlFields& fields) {
    fields.allow_only({"any", "ddp", "fsdp", "trainer", "deepspeed", "megatron"});
    std::map<std::string, model::Fix> fixes;
    for (const std::string& framework : fields.names())
        fixes[framework] = read_fix(fields.mapping(framework));
    if (fixes.count("any") == 0) fields.fail(LoadErrorCode::kMissingField, "'fix' has no entry 'any'");
    return fixes;
}

void read_lists(const YamlFields& fields, Cause& cause) {
    for (const YamlFields& item : fields.mappings("symptoms")) {
        item.allow_only({"symptom", "why"});
        cause.symptoms.push_back({item.text("symptom"), item.text("why")});
    }
    for (const YamlFields& item : fields.mappings("questions")) {
        item.allow_only({"question", "answer"});
        cause.questions.push_back({item.text("question"), item.text("answer")});
    }
    cause.tags = fields.texts("tags");
    cause.observe = fields.texts("observe");
    cause.affected = fields.texts("affected");
    cause.checklist = fields.texts("checklist");
    cause.root_causes = fields.texts("root_causes");
    cause.prevention = fields.texts("prevention");
    cause.related = fields.texts_or_none("related");
    cause.references = fields.texts("references");
}

void read_texts(const YamlFields& fields, Cause& cause) {
    cause.name = fields.text("name");
    cause.answer = fields.text("answer");
    cause.mechanism = fields.text("mechanism");
    cause.verify = fields.text("verify");
    cause.hardware_or_software = fields.text("hardware_or_software");
    cause.checkpoint = fields.text("checkpoint");
    cause.smoke_test = fields.text("smoke_test");
    cause.missing_fact = fields.text("missing_fact");
    cause.executive = fields.text("executive");
    cause.engineer = fields.text("engineer");
    cause.on_call = fields.text("on_call");
}

void read_logic(const YamlFields& fields, Cause& cause) {
    cause.specificity = fields.number("specificity");
    cause.fallback = fields.flag("fallback");
    cause.silent = fields.flag("silent");
    cause.yields = fields.flag("yields");
    cause.rules = read_rules(fields);
    cause.chain = read_told_conditions(fields, "chain");
    cause.collateral = read_told_conditions(fields, "collateral");
    cause.evidence_for = read_told_conditions(fields, "for");
    cause.evidence_against = read_told_conditions(fields, "against");
    cause.contributing = read_told_conditions(fields, "contributing");
}

Cause read_cause(const YamlFields& fields) {
    fields.allow_only({"id",         "family",       "name",
                       "tags",       "specificity",  "fallback",
                       "silent",     "rules",        "chain",
                       "collateral", "for",          "against",
                       "answer",     "contributing", "missing_fact",
                       "fix",        "verify",       "mechanism",
                       "observe",    "symptoms",     "affected",
                       "checklist",  "root_causes",  "prevention",
                       "related",    "smoke_test",   "questions",
                       "references", "executive",    "engineer",
                       "on_call",    "checkpoint",   "hardware_or_software",
                       "yields"});
    Cause cause;
    cause.id = fields.text("id");
    cause.family = fields.text_or("family", "");
    cause.file = fields.file();
    cause.fixes = read_fixes(fields.mapping("fix"));
    read_logic(fields, cause);
    read_texts(fields, cause);
    read_lists(fields, cause);
    for (const Rule& rule : cause.rules) {
        if (!rule.subject && !cause.fallback) {
            fields.fail(LoadErrorCode::kMissingField, "rule '" + rule.id + "' has no subject");
        }
    }
    return cause;
}

template <typename Load>
tl::expected<Cause, LoadError> guarded(const std::string& shown_as, Load load) {
    try {
        return read_cause(YamlFields(load(), shown_as));
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

tl::expected<Cause, LoadError> load_cause(const std::string& file, const std::string& shown_as) {
    return guarded(shown_as, [&] { return YAML::LoadFile(file); });
}

tl::expected<Cause, LoadError> parse_cause(const std::string& yaml, const std::string& shown_as) {
    return guarded(shown_as, [&] { return YAML::Load(yaml); });
}

}  // namespace inquest::knowledge
