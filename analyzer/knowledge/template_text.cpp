#include "analyzer/knowledge/template_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace inquest::knowledge {
namespace {

// Calls `on_text` and `on_name` for the literal parts and the placeholders of `text`.
template <typename OnText, typename OnName>
void split(const std::string& text, OnText on_text, OnName on_name) {
    size_t position = 0;
    while (position < text.size()) {
        const size_t open = text.find('{', position);
        const size_t close = open == std::string::npos ? open : text.find('}', open);
        if (close == std::string::npos) break;
        on_text(text.substr(position, open - position));
        on_name(text.substr(open + 1, close - open - 1));
        position = close + 1;
    }
    if (position < text.size()) on_text(text.substr(position));
}

std::string run_text(int first, int last) {
    if (first == last) return std::to_string(first);
    return fmt::format("{}{}{}", first, last == first + 1 ? ", " : "-", last);
}

std::string describe_nodes(const std::vector<model::Subject>& subjects) {
    std::vector<std::string> nodes;
    for (const model::Subject& subject : subjects) {
        if (subject.node.empty()) continue;
        if (std::find(nodes.begin(), nodes.end(), subject.node) == nodes.end()) nodes.push_back(subject.node);
    }
    if (nodes.empty()) return "an unknown node";
    if (nodes.size() > 3) return fmt::format("{} nodes", nodes.size());
    return fmt::format("{}", fmt::join(nodes, ", "));
}

}  // namespace

const std::vector<std::string>& common_placeholders() {
    static const std::vector<std::string> known = {"ranks", "nodes", "place", "verb_s"};
    return known;
}

std::vector<std::string> placeholders(const std::string& text) {
    std::vector<std::string> names;
    split(
        text, [](const std::string&) {}, [&](const std::string& name) { names.push_back(name); });
    return names;
}

std::string fill_in(const std::string& text, const Values& values) {
    std::string result;
    split(
        text, [&](const std::string& literal) { result += literal; },
        [&](const std::string& name) {
            const auto found = values.find(name);
            result += found == values.end() ? std::string("?") : found->second;
        });
    return result;
}

std::string describe_ranks(std::vector<int> ranks) {
    if (ranks.empty()) return "no rank";
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<std::string> runs;
    for (size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
        for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;)
            ++end;
        runs.push_back(run_text(ranks[begin], ranks[end - 1]));
    }
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(runs, ", "));
}

std::string describe_place(const model::Place& place) {
    if (!place.known()) return "an unknown place";
    const size_t slash = place.file.rfind('/');
    const std::string name = slash == std::string::npos ? place.file : place.file.substr(slash + 1);
    return fmt::format("{}:{}", name, place.line);
}

Values values_of(const model::Observation& observation) {
    Values values(observation.attributes.begin(), observation.attributes.end());
    std::vector<int> ranks;
    for (const model::Subject& subject : observation.subjects) {
        if (subject.rank) ranks.push_back(*subject.rank);
    }
    values.insert_or_assign("verb_s", std::string(ranks.size() > 1 ? 0 : 1, 's'));
    values.insert_or_assign("ranks", ranks.empty() ? std::string("a process") : describe_ranks(ranks));
    values.insert_or_assign("nodes", describe_nodes(observation.subjects));
    values.insert_or_assign("place", describe_place(observation.place));
    return values;
}

}  // namespace inquest::knowledge
