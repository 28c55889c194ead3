#include "analyzer/evidence/log_prefix.h"

#include <cstdint>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr size_t kHeadBytes = 200;
constexpr size_t kMostDigits = 8;

// The number at `at`, when one of `after` follows it. `at` moves behind the number.
std::optional<int> number_at(std::string_view text, size_t& at, char after) {
    const size_t start = at;
    while (at < text.size() && is_digit(text[at]))
        ++at;
    if (at == start || at - start > kMostDigits || at >= text.size() || text[at] != after)
        return std::nullopt;
    return static_cast<int>(*parse_integer(text.substr(start, at - start)));
}

// The number between the first `before` and a following ']'.
std::optional<int> bracket_number(std::string_view head, std::string_view before) {
    for (size_t at = head.find(before); at != std::string_view::npos; at = head.find(before, at)) {
        at += before.size();
        if (auto number = number_at(head, at, ']')) return number;
    }
    return std::nullopt;
}

// "[PG 0 Rank 2]", "[PG ID 0 PG GUID 0(default_pg) Rank 2]": only group 0 numbers ranks globally.
std::optional<int> default_group_rank(std::string_view head) {
    for (const std::string_view start : {"[PG ID 0 ", "[PG 0 "}) {
        const size_t at = head.find(start);
        if (at != std::string_view::npos) return bracket_number(head.substr(at), " Rank ");
    }
    return std::nullopt;
}

// "[1,3]<stdout>:" and "[3]<stderr>:"; the job comes first where there are two numbers.
std::optional<int> launcher_rank(std::string_view line) {
    if (!starts_with(line, "[")) return std::nullopt;
    size_t at = 1;
    if (number_at(line, at, ',')) {
        ++at;
    } else {
        at = 1;
    }
    const auto rank = number_at(line, at, ']');
    if (!rank || !starts_with(line.substr(at + 1), "<std")) return std::nullopt;
    return rank;
}

std::optional<int> task_label(std::string_view line) {
    size_t at = line.find_first_not_of(' ');
    if (at == std::string_view::npos) return std::nullopt;
    const auto label = number_at(line, at, ':');
    const bool ends_or_space = at + 1 == line.size() || (at + 1 < line.size() && line[at + 1] == ' ');
    return label && ends_or_space ? label : std::nullopt;
}

std::optional<int> stated_rank(std::string_view head) {
    // One look for the commonest case: a line without a bracket states no rank.
    if (head.find('[') == std::string_view::npos) return std::nullopt;
    if (auto rank = bracket_number(head, "[rank")) return rank;
    if (auto rank = bracket_number(head, "[rank=")) return rank;
    if (auto rank = launcher_rank(head)) return rank;
    if (auto rank = bracket_number(head, "[Rank ")) return rank;
    return default_group_rank(head);
}

}  // namespace

LogPrefix parse_log_prefix(std::string_view line) {
    const std::string_view head = line.substr(0, kHeadBytes);
    return {stated_rank(head), task_label(head)};
}

}  // namespace inquest::evidence
