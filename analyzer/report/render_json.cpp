#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyzer/report/render.h"
#include "analyzer/report/words.h"

namespace inquest::report {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::string evidence_id(size_t index) {
    return fmt::format("e{}", index + 1);
}

Json parties_json(const std::vector<model::Party>& parties) {
    Json list = Json::array();
    for (const model::Party& party : parties) {
        list.push_back({{"rank", value_or_null(party.rank)},
                        {"node", text_or_null(party.node)},
                        {"place", text_or_null(place_text(party.place))},
                        {"why", party.why}});
    }
    return list;
}

Json chain_json(const std::vector<model::ChainLink>& chain) {
    Json list = Json::array();
    for (const model::ChainLink& link : chain) {
        Json ids = Json::array();
        for (const size_t index : link.evidence)
            ids.push_back(evidence_id(index));
        list.push_back({{"text", link.text}, {"evidence", ids}});
    }
    return list;
}

Json evidence_json(const std::vector<model::Evidence>& evidence) {
    Json list = Json::array();
    for (size_t index = 0; index < evidence.size(); ++index) {
        const model::Evidence& item = evidence[index];
        list.push_back({{"id", evidence_id(index)},
                        {"source", item.source.source},
                        {"position", text_or_null(item.source.position)},
                        {"rank", value_or_null(item.rank)},
                        {"time", text_or_null(time_text(item.wall_ns))},
                        {"text", item.text}});
    }
    return list;
}

Json fix_json(const std::optional<model::Fix>& fix) {
    if (!fix) return nullptr;
    std::string text = fix->framework + ": " + fix->text;
    if (!fix->code.empty()) text += "\n" + fix->code;
    return text + "\n" + fix->why;
}

Json divergence_json(const std::optional<model::Divergence>& divergence) {
    if (!divergence) return nullptr;
    return {{"part", divergence->part},
            {"optimizer", value_or_null(divergence->optimizer)},
            {"first_bad_step", value_or_null(divergence->first_bad_step)},
            {"last_good_step", value_or_null(divergence->last_good_step)},
            {"tensors", divergence->tensors},
            {"ranks", divergence->ranks},
            {"tie", divergence->tie},
            {"growth", text_or_null(divergence->growth)}};
}

Json versions_json(const model::Diagnosis& diagnosis) {
    Json versions = Json::object();
    for (const auto& [name, value] : diagnosis.versions)
        versions[name] = value_or_null(value);
    return versions;
}

}  // namespace

std::string render_json(const model::Diagnosis& diagnosis) {
    const Json root = {{"schema", "inquest-diagnosis-1"},
                       {"job", value_or_null(diagnosis.job)},
                       {"step", value_or_null(diagnosis.step)},
                       {"cause", diagnosis.cause},
                       {"family", text_or_null(diagnosis.family)},
                       {"confidence", confidence_name(diagnosis.confidence)},
                       {"summary", diagnosis.summary},
                       {"end", diagnosis.end},
                       {"initiating", parties_json(diagnosis.initiating)},
                       {"collateral", parties_json(diagnosis.collateral)},
                       {"contributing", diagnosis.contributing},
                       {"chain", chain_json(diagnosis.chain)},
                       {"evidence", evidence_json(diagnosis.evidence)},
                       {"for", diagnosis.supporting},
                       {"against", diagnosis.against},
                       {"missing_fact", value_or_null(diagnosis.missing_fact)},
                       {"divergence", divergence_json(diagnosis.divergence)},
                       {"fix", fix_json(diagnosis.fix)},
                       {"verify", value_or_null(diagnosis.verify)},
                       {"notes", diagnosis.notes},
                       {"injected", value_or_null(diagnosis.injected)},
                       {"versions", versions_json(diagnosis)}};
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace inquest::report
