#include "epilog/diagnosis_fields.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
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

/* Node and place are those of the lowest initiating rank: the one that the record line names first. */
void store_first_party(const Json& parties, DiagnosisFields& fields) {
    if (fields.initiating.total == 0) return;
    for (const Json& party : parties) {
        if (!party.is_object() || rank_of(party) != fields.initiating.range[0].first) continue;
        store_text(text_of(party, "node"), fields.node);
        store_place(text_of(party, "place"), fields);
        return;
    }
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
    const Json& initiating = parties_of(diagnosis, "initiating");
    fields.initiating = ranks_of(initiating);
    fields.collateral = ranks_of(parties_of(diagnosis, "collateral"));
    store_first_party(initiating, fields);
    return fields.cause[0] != '\0';
}

bool is_about_replicas(const DiagnosisFields& fields) {
    return fields.is_silent == 1 || bounded_text(fields.family) == "weight-divergence";
}

}  // namespace inquest::epilog
