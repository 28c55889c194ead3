#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/render.h"
#include "analyzer/report/words.h"

namespace inquest::report {
namespace {

constexpr size_t kColumns = 120;
constexpr size_t kLabelColumns = 14;  // two blanks, the label, blanks up to here
constexpr size_t kPartyLines = 2;

// One labelled entry of at most `most_lines` lines.
std::string entry(const std::string& label, const std::string& content, size_t most_lines) {
    const std::string wrapped = wrap(content, kColumns, kLabelColumns);
    std::string text = fmt::format("{:<{}}", "  " + label, kLabelColumns);
    size_t begin = 0;
    for (size_t count = 0; count < most_lines && begin < wrapped.size(); ++count) {
        const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
        std::string part = wrapped.substr(begin, end - begin);
        const bool more = end < wrapped.size() && count + 1 == most_lines;
        if (more) part += " ...";
        text += cut(part, count == 0 ? kColumns - kLabelColumns : kColumns) + "\n";
        begin = end + 1;
    }
    return text;
}

std::string parties_entry(const std::string& label, const std::vector<model::Party>& parties) {
    const std::vector<std::string> lines = party_lines(parties);
    std::string text;
    for (size_t index = 0; index < std::min(lines.size(), kPartyLines); ++index) {
        const bool last = index + 1 == kPartyLines && lines.size() > kPartyLines;
        const std::string more = last ? fmt::format(" (and {} more)", lines.size() - kPartyLines) : "";
        text += entry(index == 0 ? label : "", lines[index] + more, 1);
    }
    return text;
}

}  // namespace

std::string render_notice(const model::Diagnosis& diagnosis, const std::string& report_path) {
    std::string text =
        cut(fmt::format("inquest: {} {}", job_text(diagnosis), diagnosis.headline), kColumns) + "\n";
    text +=
        entry("what", fmt::format("{} ({})", diagnosis.summary, confidence_name(diagnosis.confidence)), 2);
    text += parties_entry("who", diagnosis.initiating);
    text += parties_entry("collateral", diagnosis.collateral);
    if (diagnosis.missing_fact) text += entry("missing", *diagnosis.missing_fact, 2);
    if (diagnosis.fix) {
        text += entry("fix", fmt::format("{} (inquest explain {})", diagnosis.fix->text, diagnosis.cause), 2);
    }
    if (diagnosis.verify && !diagnosis.missing_fact) text += entry("verify", *diagnosis.verify, 2);
    if (!report_path.empty()) text += entry("report", report_path, 1);
    return text;
}

}  // namespace inquest::report
