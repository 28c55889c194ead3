#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "analyzer/detect/detect.h"
#include "analyzer/detect/known_exception.h"
#include "analyzer/detect/library_file.h"
#include "analyzer/detect/log_position.h"

namespace inquest::detect {
namespace {

using model::LogLine;
using model::Observation;

// Python's own words (traceback.py): the first line of a traceback and of a frame.
constexpr std::string_view kFirstLine = "Traceback (most recent call last):";
constexpr std::string_view kFrameStart = "File \"";
constexpr size_t kFramesMax = 256;
// Frames of installed libraries are not the user's program.
struct OpenTraceback {
    std::vector<model::Place> frames;  // outermost first
};

// Text after the prefix that names the rank: "[rank0]: ", "3: ", "[default0]:".
std::string_view after_prefix(std::string_view text) {
    while (!text.empty()) {
        const size_t close = text.front() == '[' ? text.find("]:") : std::string_view::npos;
        if (close != std::string_view::npos && close < 16) {
            text.remove_prefix(close + 2);
            continue;
        }
        const size_t digits = text.find_first_not_of("0123456789");
        const bool label = digits != std::string_view::npos && digits > 0 && text.substr(digits, 2) == ": ";
        if (!label) break;
        text.remove_prefix(digits + 1);
    }
    if (!text.empty() && text.front() == ' ') {
        const bool prefixed = text.size() > 1 && text[1] != ' ';
        if (prefixed) text.remove_prefix(1);
    }
    return text;
}

std::optional<model::Place> read_frame(std::string_view text) {
    const size_t start = text.find(kFrameStart);
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start + kFrameStart.size());
    const size_t quote = text.find("\", line ");
    if (quote == std::string_view::npos) return std::nullopt;
    model::Place place;
    place.file = std::string(text.substr(0, quote));
    text.remove_prefix(quote + 8);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place.line);
    if (error != std::errc()) return std::nullopt;
    const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (rest.substr(0, 5) == ", in ") place.function = std::string(rest.substr(5));
    return place;
}

model::Place users_place(const std::vector<model::Place>& frames) {
    const auto found = std::find_if_not(frames.rbegin(), frames.rend(), [](const model::Place& frame) {
        return is_library_file(frame.file);
    });
    if (found != frames.rend()) return *found;
    return {};
}

struct ExceptionLine {
    std::string type;
    std::string message;
};

// "ValueError: text" or "KeyError"; nullopt for a line that cannot end a traceback.
std::optional<ExceptionLine> read_exception(std::string_view text) {
    const size_t colon = text.find(": ");
    const std::string_view type = text.substr(0, colon);
    const bool plausible =
        !type.empty() && type.find_first_of(" \t\"'()[]") == std::string_view::npos &&
        (std::isalpha(static_cast<unsigned char>(type.front())) != 0 || type.front() == '_');
    if (!plausible) return std::nullopt;
    const std::string_view message =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 2);
    return ExceptionLine{std::string(type), std::string(message)};
}

class TracebackReader {
 public:
    TracebackReader(const StepView& step, const knowledge::Knowledge& knowledge, size_t file)
        : step_(step), knowledge_(knowledge), file_(file) {}

    void read(const LogLine& line, Observations& observations) {
        const int stream = line.rank.value_or(-1);
        const size_t start = line.text.find(kFirstLine);
        if (start != std::string::npos) {
            open_[stream] = {};
            return;
        }
        const auto open = open_.find(stream);
        if (open == open_.end()) return;
        const std::string_view text = after_prefix(line.text);
        if (text.empty()) return;
        if (text.front() == ' ') {
            add_frame(open->second, text);
            return;
        }
        if (const auto exception = read_exception(text)) {
            observations.push_back(finish(open->second, line, *exception));
        }
        open_.erase(open);
    }

 private:
    static void add_frame(OpenTraceback& traceback, std::string_view text) {
        const auto frame = read_frame(text);
        if (frame && traceback.frames.size() < kFramesMax) traceback.frames.push_back(*frame);
    }

    Observation finish(const OpenTraceback& traceback, const LogLine& line, const ExceptionLine& exception) {
        Observation observation;
        const LogPosition position = position_of(step_, file_, line);
        const KnownException known = know_exception(knowledge_, exception.type, exception.message);
        observation.fact = "uncaught_exception";
        observation.place = users_place(traceback.frames);
        observation.wall_ns = position.wall_ns;
        observation.log_order = position.order;
        if (line.rank) observation.subjects = {subject_in_log(step_, *line.rank)};
        for (model::Subject& subject : observation.subjects)
            subject.place = observation.place;
        observation.attributes = {{"type", exception.type},
                                  {"message", exception.message},
                                  {"witness", yes_no(known.witness)},
                                  {"known_as", known.known_as.empty() ? "none" : known.known_as},
                                  {"known_text", known.meaning},
                                  {"call", ""},
                                  {"in_collective", "unknown"},
                                  {"others_wait", "unknown"},
                                  {"others_failed_later", "unknown"}};
        observation.evidence = {{position.source, line.rank, position.wall_ns, line.text}};
        return observation;
    }

    const StepView& step_;
    const knowledge::Knowledge& knowledge_;
    size_t file_;
    std::map<int, OpenTraceback> open_;  // by rank, -1 for lines without one
};

}  // namespace

Observations detect_log_tracebacks(const StepView& step, const knowledge::Knowledge& knowledge) {
    Observations observations;
    // Black boxes hold every exception with its exact time; the log would only repeat it.
    if (!step.ranks.empty()) return observations;
    for (size_t file = 0; file < step.timeline->logs.size(); ++file) {
        TracebackReader reader(step, knowledge, file);
        for (const LogLine& line : step.timeline->logs[file].lines)
            reader.read(line, observations);
    }
    return observations;
}

}  // namespace inquest::detect
