#include "analyzer/report/words.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/knowledge/template_text.h"

namespace inquest::report {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

// The part of a line that says where and why, without the ranks. The evidence has the whole path.
std::string party_reason(const model::Party& party) {
    std::string text;
    if (party.place.known()) text += knowledge::describe_place(party.place);
    if (!party.why.empty()) text += (text.empty() ? "" : ": ") + party.why;
    return text;
}

struct PartyGroup {
    std::string reason;
    std::vector<int> ranks;
    std::vector<std::string> nodes;
};

std::string group_line(const PartyGroup& group) {
    std::string who = group.ranks.empty() ? std::string("a process") : knowledge::describe_ranks(group.ranks);
    if (group.nodes.size() == 1) who += " on " + group.nodes.front();
    return group.reason.empty() ? who : who + ": " + group.reason;
}

}  // namespace

const char* confidence_name(model::Confidence confidence) {
    switch (confidence) {
        case model::Confidence::kCertain:
            return "certain";
        case model::Confidence::kLikely:
            return "likely";
        case model::Confidence::kPossible:
            return "possible";
        case model::Confidence::kUnknown:
            return "unknown";
    }
    return "unknown";
}

std::string time_text(model::WallNs wall_ns) {
    if (wall_ns <= 0) return {};
    const auto seconds = static_cast<std::time_t>(wall_ns / kNsPerSecond);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(seconds), wall_ns % kNsPerSecond);
}

std::string place_text(const model::Place& place) {
    return place.known() ? fmt::format("{}:{}", place.file, place.line) : std::string();
}

std::string job_text(const model::Diagnosis& diagnosis) {
    std::string text = diagnosis.job ? fmt::format("job {}", *diagnosis.job) : std::string("this job");
    if (diagnosis.job && diagnosis.step) text += fmt::format(" step {}", *diagnosis.step);
    return text;
}

std::vector<std::string> party_lines(const std::vector<model::Party>& parties) {
    std::vector<PartyGroup> groups;
    for (const model::Party& party : parties) {
        const std::string reason = party_reason(party);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const PartyGroup& known) { return known.reason == reason; });
        if (group == groups.end()) group = groups.insert(groups.end(), PartyGroup{reason, {}, {}});
        if (party.rank) group->ranks.push_back(*party.rank);
        const bool known_node =
            std::find(group->nodes.begin(), group->nodes.end(), party.node) != group->nodes.end();
        if (!party.node.empty() && !known_node) group->nodes.push_back(party.node);
    }
    std::vector<std::string> lines;
    lines.reserve(groups.size());
    for (const PartyGroup& group : groups)
        lines.push_back(group_line(group));
    return lines;
}

std::string wrap(const std::string& text, size_t columns, size_t indent) {
    std::string result;
    size_t column = indent;
    size_t position = 0;
    while (position < text.size()) {
        const size_t end = std::min(text.find(' ', position), text.size());
        const size_t length = end - position;
        if (column > indent && column + 1 + length > columns) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result.append(text, position, length);
        column += length;
        position = end + 1;
    }
    return result;
}

std::string cut(const std::string& text, size_t columns) {
    if (text.size() <= columns) return text;
    size_t end = columns - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end) + "...";
}

}  // namespace inquest::report
