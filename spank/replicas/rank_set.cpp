#include "spank/replicas/rank_set.h"

#include <charconv>
#include <optional>

namespace inquest::replicas {
namespace {

constexpr uint32_t kMaxRank = 1U << 24U;

std::optional<uint32_t> take_number(std::string_view& text) {
    uint32_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number > kMaxRank) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    return number;
}

bool take_character(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

bool append_range(std::string_view& text, std::vector<uint32_t>& ranks) {
    const auto first = take_number(text);
    const auto last = first && take_character(text, '-') ? take_number(text) : first;
    if (!first || !last || *last < *first || *last - *first >= kMaxRanks - ranks.size()) return false;
    if (!ranks.empty() && ranks.back() >= *first) return false;
    for (uint32_t rank = *first; rank <= *last; rank++)
        ranks.push_back(rank);
    return true;
}

}  // namespace

std::vector<uint32_t> parse_ranks(std::string_view text) {
    std::vector<uint32_t> ranks;
    do {
        if (!append_range(text, ranks)) return {};
    } while (take_character(text, ','));
    return text.empty() ? ranks : std::vector<uint32_t>();
}

}  // namespace inquest::replicas
