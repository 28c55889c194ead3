#include "epilog/diagnosis_fields.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace inquest::epilog {
namespace {

using Json = nlohmann::json;

template <std::size_t N>
void store_text(std::string_view text, char (&target)[N]) {
    std::memset(target, 0, N);
    if (text.size() < N) text.copy(target, N);
}

std::string_view text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
}

std::int32_t rank_of(const Json& party) {
    const auto found = party.find("rank");
    if (found == party.end() || !found->is_number_unsigned()) return -1;
    const auto rank = found->get<std::uint64_t>();
    return rank <= std::uint64_t{std::numeric_limits<std::int32_t>::max()} ? static_cast<std::int32_t>(rank)
                                                                           : -1;
}

const Json& parties_of(const Json& diagnosis, const char* key) {
    static const Json none = Json::array();
    const auto found = diagnosis.find(key);
    return found != diagnosis.end() && found->is_array() ? *found : none;
}

RankSet ranks_of(const Json& parties) {
    std::vector<std::int32_t> ranks;
    for (const Json& party : parties) {
        if (party.is_object()) ranks.push_back(rank_of(party));
    }
    return compress_ranks(std::move(ranks));
}

std::uint32_t confidence_of(std::string_view text) {
    if (text == "certain") return static_cast<std::uint32_t>(Confidence::kCertain);
    if (text == "likely") return static_cast<std::uint32_t>(Confidence::kLikely);
    if (text == "possible") return static_cast<std::uint32_t>(Confidence::kPossible);
    return static_cast<std::uint32_t>(Confidence::kUnknown);
}

/* "FILE:LINE"; without a line there is no place. */
void store_place(std::string_view place, DiagnosisFields& fields) {
    const auto colon = place.rfind(':');
    if (colon == std::string_view::npos) return;
    const std::string_view digits = place.substr(colon + 1);
    std::uint32_t line = 0;
    const auto end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, line);
    if (error != std::errc{} || stop != end || line == 0) return;
    fields.line = line;
    store_text(place.substr(0, colon), fields.file);
}

/* By rank. */
std::vector<const Json*> sorted_parties(const Json& parties) {
    std::vector<const Json*> sorted;
    for (const Json& party : parties) {
        if (party.is_object() && rank_of(party) >= 0) sorted.push_back(&party);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Json* a, const Json* b) { return rank_of(*a) < rank_of(*b); });
    return sorted;
}

void store_nodes(const std::vector<const Json*>& parties, NodeSet& nodes) {
    std::set<std::string_view> seen;
    for (const Json* party : parties) {
        const std::string_view node = text_of(*party, "node");
        if (node.empty() || !seen.insert(node).second) continue;
        if (nodes.total < kMaxNamedNodes) store_text(node, nodes.name[nodes.total]);
        nodes.total++;
    }
}

DifferingPart part_of(std::string_view text) {
    if (text == "parameters") return DifferingPart::kParameters;
    if (text == "buffers") return DifferingPart::kBuffers;
    if (text == "samples") return DifferingPart::kSamples;
    return DifferingPart::kNone;
}

std::int64_t step_of(const Json& divergence, const char* key) {
    const auto found = divergence.find(key);
    return found != divergence.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

void store_difference(const Json& diagnosis, DiagnosisFields& fields) {
    const auto found = diagnosis.find("divergence");
    const bool is_known = found != diagnosis.end() && found->is_object();
    fields.differing_part = static_cast<std::uint32_t>(part_of(is_known ? text_of(*found, "part") : ""));
    fields.first_bad_step = is_known ? step_of(*found, "first_bad_step") : -1;
    fields.last_good_step = is_known ? step_of(*found, "last_good_step") : -1;
}

}  // namespace

RankSet compress_ranks(std::vector<std::int32_t> ranks) {
    RankSet set{};
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const std::int32_t rank : ranks) {
        if (rank < 0) continue;
        set.total++;
        const std::uint32_t count = set.range_count;
        if (count > 0 && set.range[count - 1].last + 1 == rank) {
            set.range[count - 1].last = rank;
        } else if (count < kMaxRankRanges) {
            set.range[set.range_count++] = {rank, rank};
        }
    }
    return set;
}

bool read_diagnosis_fields(std::string_view json, std::string_view step_name, DiagnosisFields& fields) {
    fields = DiagnosisFields{};
    const Json diagnosis = Json::parse(json, nullptr, false);
    if (!diagnosis.is_object() || text_of(diagnosis, "schema") != "inquest-diagnosis-1") return false;
    if (text_of(diagnosis, "step") != step_name) return false;
    store_text(text_of(diagnosis, "cause"), fields.cause);
    store_text(text_of(diagnosis, "family"), fields.family);
    fields.confidence = confidence_of(text_of(diagnosis, "confidence"));
    fields.is_silent = text_of(diagnosis, "end") == "silent" ? 1 : 0;
    fields.initiating = ranks_of(parties_of(diagnosis, "initiating"));
    fields.collateral = ranks_of(parties_of(diagnosis, "collateral"));
    store_difference(diagnosis, fields);
    const auto initiating = sorted_parties(parties_of(diagnosis, "initiating"));
    store_nodes(initiating, fields.nodes);
    if (!initiating.empty()) store_place(text_of(*initiating.front(), "place"), fields);
    return fields.cause[0] != '\0';
}

}  // namespace inquest::epilog
