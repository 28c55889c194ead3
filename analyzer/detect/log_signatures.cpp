#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analyzer/detect/detect.h"
#include "analyzer/detect/log_position.h"
#include "analyzer/detect/signals.h"

namespace inquest::detect {
namespace {

using knowledge::Signature;
using model::Observation;

// A message that repeats this often says nothing new.
constexpr size_t kLinesPerSignature = 64;
constexpr size_t kCaptureMaxBytes = 64;

std::string capture_number(std::string_view rest) {
    size_t length = 0;
    while (length < rest.size() && length < kCaptureMaxBytes && rest[length] >= '0' && rest[length] <= '9') {
        ++length;
    }
    return std::string(rest.substr(0, length));
}

std::string capture_word(std::string_view rest) {
    const size_t end = rest.find_first_of(" ,;)\"'");
    return std::string(rest.substr(0, std::min({end, rest.size(), kCaptureMaxBytes})));
}

std::string capture(const std::string& line, const Signature::Capture& wanted) {
    const size_t at = line.find(wanted.after);
    if (at == std::string::npos) return {};
    const std::string_view rest = std::string_view(line).substr(at + wanted.after.size());
    return wanted.number ? capture_number(rest) : capture_word(rest);
}

std::optional<int> parse_rank(const std::string& digits) {
    int rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return rank;
}

void complete_signal(Observation& observation) {
    const auto found = observation.attributes.find("signal");
    if (found == observation.attributes.end()) return;
    const int signal = parse_rank(found->second).value_or(0);
    observation.attributes.insert({"signal_name", signal_name(signal)});
    observation.attributes.insert({"class", signal_class(signal)});
}

Observation from_line(const StepView& step, size_t file, const model::LogLine& line,
                      const Signature& signature) {
    Observation observation;
    observation.fact = signature.states.empty() ? "log_line" : signature.states;
    observation.attributes.insert(signature.attributes.begin(), signature.attributes.end());
    std::optional<int> rank = line.rank;
    for (const Signature::Capture& wanted : signature.captures) {
        const std::string value = capture(line.text, wanted);
        if (value.empty()) continue;
        if (wanted.name == "rank") {
            rank = parse_rank(value);
        } else {
            observation.attributes[wanted.name] = value;
        }
    }
    if (signature.states.empty()) {
        observation.attributes["signature"] = signature.id;
        observation.attributes["role"] = knowledge::role_name(signature.role);
        observation.attributes["known_as"] = signature.known_as.empty() ? "none" : signature.known_as;
        observation.attributes["text"] = signature.meaning;
    }
    complete_signal(observation);
    const LogPosition position = position_of(step, file, line);
    observation.wall_ns = position.wall_ns;
    observation.log_order = position.order;
    if (rank) observation.subjects = {subject_in_log(step, *rank)};
    observation.evidence = {{position.source, rank, position.wall_ns, line.text}};
    return observation;
}

}  // namespace

Observations detect_log_signatures(const StepView& step, const knowledge::Knowledge& knowledge) {
    Observations observations;
    std::vector<size_t> seen(knowledge.signatures.size(), 0);
    for (size_t file = 0; file < step.timeline->logs.size(); ++file) {
        for (const model::LogLine& line : step.timeline->logs[file].lines) {
            for (const size_t index : knowledge.matcher.find(line.text)) {
                const Signature& signature = knowledge.signatures[index];
                if (!signature.in_logs || ++seen[index] > kLinesPerSignature) continue;
                observations.push_back(from_line(step, file, line, signature));
            }
        }
    }
    return observations;
}

}  // namespace inquest::detect
