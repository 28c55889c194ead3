// Rank lists and host lists (declared in text.h).
#include <algorithm>
#include <cstddef>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr size_t kMostRanks = 1'000'000;
constexpr size_t kMostHosts = 65'536;

struct Range {
    int64_t first = 0;
    int64_t last = -1;
    size_t width = 0;  // digits of the first number: "n[01-10]" keeps its zeros
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

std::optional<Range> parse_range(std::string_view text, size_t most) {
    text = trimmed(text);
    const size_t dash = text.find('-', 1);
    const std::string_view low = text.substr(0, dash);
    const auto first = parse_integer(low);
    const auto last = dash == std::string_view::npos ? first : parse_integer(text.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > INT32_MAX) return std::nullopt;
    if (static_cast<size_t>(*last - *first) >= most) return std::nullopt;
    return Range{*first, *last, low.size()};
}

// "1-4,7": nullopt when malformed or when it names more than `most` numbers.
std::optional<std::vector<Range>> parse_ranges(std::string_view text, size_t most) {
    std::vector<Range> ranges;
    size_t total = 0;
    while (!text.empty()) {
        const size_t comma = text.find(',');
        const auto range = parse_range(text.substr(0, comma), most);
        if (!range) return std::nullopt;
        total += static_cast<size_t>(range->last - range->first + 1);
        if (total > most) return std::nullopt;
        ranges.push_back(*range);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return ranges;
}

std::string padded(int64_t number, size_t width) {
    std::string digits = std::to_string(number);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// The comma that ends the first host expression, outside of brackets.
size_t end_of_expression(std::string_view text) {
    bool in_bracket = false;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '[') in_bracket = true;
        if (text[at] == ']') in_bracket = false;
        if (text[at] == ',' && !in_bracket) return at;
    }
    return text.size();
}

bool expand_expression(std::string_view text, std::vector<std::string>& hosts) {
    const size_t open = text.find('[');
    if (open == std::string_view::npos) {
        hosts.emplace_back(text);
        return !text.empty();
    }
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos || text.find('[', close) != std::string_view::npos) return false;
    const auto ranges = parse_ranges(text.substr(open + 1, close - open - 1), kMostHosts);
    if (!ranges) return false;
    for (const Range& range : *ranges) {
        for (int64_t n = range.first; n <= range.last; ++n) {
            std::string host(text.substr(0, open));
            hosts.push_back(host.append(padded(n, range.width)).append(text.substr(close + 1)));
        }
    }
    return true;
}

}  // namespace

std::vector<int> parse_rank_list(std::string_view text) {
    text = trimmed(text);
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
    std::vector<int> ranks;
    const auto ranges = parse_ranges(text, kMostRanks);
    if (!ranges) return ranks;
    for (const Range& range : *ranges) {
        for (int64_t rank = range.first; rank <= range.last; ++rank)
            ranks.push_back(static_cast<int>(rank));
    }
    return ranks;
}

std::vector<std::string> expand_host_list(std::string_view text) {
    std::vector<std::string> hosts;
    while (!text.empty()) {
        const size_t end = end_of_expression(text);
        if (!expand_expression(text.substr(0, end), hosts) || hosts.size() > kMostHosts) return {};
        text = end < text.size() ? text.substr(end + 1) : std::string_view();
    }
    return hosts;
}

}  // namespace inquest::evidence
