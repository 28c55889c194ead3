#include "epilog/record_line.h"

#include <fmt/format.h>

#include <algorithm>

namespace inquest::epilog {
namespace {

/* Bounds of the variable parts, so that no combination of them makes a line too long. */
constexpr std::size_t kMaxIdBytes = 48;
constexpr std::size_t kMaxInitiatingBytes = 80;
constexpr std::size_t kMaxNodesBytes = 63;
constexpr std::size_t kMaxFileBytes = 80;
constexpr std::size_t kMaxWaitingBytes = 120;
constexpr std::size_t kMaxReportBytes = 300;
constexpr std::size_t kMaxNumberBytes = 10;
constexpr std::int64_t kMaxStep = 9'999'999'999;
constexpr std::string_view kVerify = "; verify: rerun with --inquest";
constexpr std::string_view kReport = "; report ";
constexpr std::string_view kDifference = "; difference in ";
constexpr std::size_t kFixedBytes =
    kRecordLinePrefix.size() + std::string_view("/ (possible)").size() +
    std::string_view("; first ranks ,... ( in all) (,... ( in all)) :").size() +
    std::string_view("; waiting ranks ,... ( in all)").size() +
    std::string_view("; fix: inquest explain ").size() + kVerify.size() + kReport.size();
static_assert(kFixedBytes + 3 * kMaxIdBytes + kMaxInitiatingBytes + kMaxNodesBytes + kMaxFileBytes +
                      kMaxWaitingBytes + kMaxReportBytes + 4 * kMaxNumberBytes <=
                  kMaxRecordLineBytes,
              "the longest line fits");

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_alphanumeric(char c) {
    return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool is_name(std::string_view text, std::size_t max_bytes) {
    return !text.empty() && text.size() <= max_bytes && std::all_of(text.begin(), text.end(), [](char c) {
        return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
    });
}

bool is_harmless_path(std::string_view path) {
    return path.size() <= kMaxReportBytes && path.starts_with('/') &&
           std::all_of(path.begin(), path.end(), [](char c) {
               return is_alphanumeric(c) || std::string_view("/._-+=@:,").find(c) != std::string_view::npos;
           });
}

std::string_view confidence_name(std::uint32_t confidence) {
    switch (static_cast<Confidence>(confidence)) {
        case Confidence::kCertain:
            return "certain";
        case Confidence::kLikely:
            return "likely";
        case Confidence::kPossible:
            return "possible";
        case Confidence::kUnknown:
            break;
    }
    return "unknown";
}

std::string range_text(const RankRange& range) {
    if (range.first == range.last) return fmt::format("{}", range.first);
    return fmt::format("{}{}{}", range.first, range.last == range.first + 1 ? "," : "-", range.last);
}

bool is_ascending(const RankSet& set) {
    std::int64_t before = -1;
    for (std::uint32_t i = 0; i < set.range_count; i++) {
        if (set.range[i].first <= before || set.range[i].last < set.range[i].first) return false;
        before = set.range[i].last;
    }
    return true;
}

/* Appends to a list of at most `max_bytes`; false when it does not fit. */
bool append_piece(std::string& list, std::string_view piece, std::size_t max_bytes) {
    const std::size_t comma = list.empty() ? 0 : 1;
    if (list.size() + comma + piece.size() > max_bytes) return false;
    list.append(comma, ',').append(piece);
    return true;
}

std::string rest_text(std::uint32_t total) {
    return fmt::format(",... ({} in all)", total);
}

/* "0,1,3-31"; what does not fit is counted: "0,2,4,... (512 in all)". Empty for an ill-formed set. */
std::string ranks_text(const RankSet& set, std::size_t max_bytes) {
    if (set.range_count == 0 || set.range_count > kMaxRankRanges || !is_ascending(set)) return {};
    std::string text;
    std::int64_t shown = 0;
    for (std::uint32_t i = 0; i < set.range_count; i++) {
        if (!append_piece(text, range_text(set.range[i]), max_bytes)) break;
        shown += std::int64_t{set.range[i].last} - set.range[i].first + 1;
    }
    if (shown < std::int64_t{set.total}) text += rest_text(set.total);
    return text;
}

std::string place_text(const DiagnosisFields& fields) {
    const std::string_view path = bounded_text(fields.file);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (fields.line == 0 || !is_name(name, kMaxFileBytes)) return {};
    return fmt::format(" {}:{}", name, fields.line);
}

/* " (n2,n3)"; what does not fit or is no node of the job is counted. */
std::string nodes_text(const NodeSet& set, const std::vector<std::string>& nodes) {
    std::string text;
    std::uint32_t shown = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(set.total, kMaxNamedNodes); i++) {
        const std::string_view node = bounded_text(set.name[i]);
        if (!is_name(node, kMaxNodesBytes) || std::find(nodes.begin(), nodes.end(), node) == nodes.end())
            continue;
        if (!append_piece(text, node, kMaxNodesBytes)) break;
        shown++;
    }
    if (text.empty()) return {};
    return fmt::format(" ({}{})", text, shown < set.total ? rest_text(set.total) : "");
}

std::string first_part(const DiagnosisFields& fields, const RecordContext& context) {
    const std::string ranks = ranks_text(fields.initiating, kMaxInitiatingBytes);
    if (ranks.empty()) return {};
    return fmt::format("; first rank{} {}{}{}", fields.initiating.total > 1 ? "s" : "", ranks,
                       nodes_text(fields.nodes, context.nodes), place_text(fields));
}

std::string waiting_part(const DiagnosisFields& fields) {
    const std::string ranks = ranks_text(fields.collateral, kMaxWaitingBytes);
    if (ranks.empty()) return {};
    return fmt::format("; waiting rank{} {}", fields.collateral.total > 1 ? "s" : "", ranks);
}

std::string_view part_name(std::uint32_t part) {
    switch (static_cast<DifferingPart>(part)) {
        case DifferingPart::kParameters:
            return "parameters";
        case DifferingPart::kBuffers:
            return "buffers";
        case DifferingPart::kSamples:
            return "samples";
        case DifferingPart::kNone:
            break;
    }
    return {};
}

bool is_step(std::int64_t step) {
    return step >= 0 && step <= kMaxStep;
}

std::string since_text(const DiagnosisFields& fields) {
    if (!is_step(fields.first_bad_step)) return {};
    if (fields.first_bad_step == 0) return " before step 1";
    if (!is_step(fields.last_good_step)) return fmt::format(" since step {}", fields.first_bad_step);
    return fmt::format(" since step {}, none at step {}", fields.first_bad_step, fields.last_good_step);
}

std::string difference_part(const DiagnosisFields& fields) {
    const std::string_view part = part_name(fields.differing_part);
    if (part.empty()) return {};
    return fmt::format("{}{}{}", kDifference, part, since_text(fields));
}

/* Nobody waits where nothing failed. */
std::string effect_part(const DiagnosisFields& fields) {
    return fields.is_silent == 1 ? difference_part(fields) : waiting_part(fields);
}

std::string report_part(const RecordContext& context) {
    if (!is_harmless_path(context.report_directory)) return {};
    return fmt::format("{}{}", kReport, context.report_directory);
}

/* "family/cause", or just "unknown"; nothing when root does not know the cause. */
std::optional<std::string> cause_text(const DiagnosisFields& fields, const RecordContext& context) {
    const std::string_view cause = bounded_text(fields.cause);
    const std::string_view family = bounded_text(fields.family);
    if (cause == kCauseHealthy || !is_valid_id(cause)) return std::nullopt;
    if (is_valid_id(family) && context.is_known(family, cause)) return fmt::format("{}/{}", family, cause);
    return cause == kCauseUnknown ? std::optional(std::string(cause)) : std::nullopt;
}

std::string advice_part(std::string_view cause) {
    if (cause == kCauseUnknown) return {};
    return fmt::format("; fix: inquest explain {}{}", cause, kVerify);
}

}  // namespace

bool is_valid_id(std::string_view text) {
    if (text.empty() || text.size() > kMaxIdBytes || !is_lower(text.front()) || text.back() == '-')
        return false;
    return text.find("--") == std::string_view::npos && std::all_of(text.begin(), text.end(), [](char c) {
               return is_lower(c) || is_digit(c) || c == '-';
           });
}

std::string_view named_report(std::string_view line) {
    const auto part = line.rfind(kReport);
    return part == std::string_view::npos ? std::string_view() : line.substr(line.rfind('/') + 1);
}

std::optional<std::string> render_record_line(const DiagnosisFields& fields, const RecordContext& context) {
    const auto cause = cause_text(fields, context);
    if (!cause) return std::nullopt;
    return fmt::format("{}{} ({}){}{}{}{}", kRecordLinePrefix, *cause, confidence_name(fields.confidence),
                       first_part(fields, context), effect_part(fields),
                       advice_part(bounded_text(fields.cause)), report_part(context));
}

}  // namespace inquest::epilog
