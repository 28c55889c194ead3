#include "analyzer/evidence/python_stack.h"

#include <algorithm>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr std::string_view kHeaderEnd = "(most recent call first):";

bool is_thread_header(std::string_view line) {
    return (starts_with(line, "Thread 0x") || starts_with(line, "Current thread 0x") ||
            starts_with(line, "Stack (most recent call first)")) &&
           line.find(kHeaderEnd) != std::string_view::npos;
}

bool is_fatal_header(std::string_view line) {
    return starts_with(line, "Fatal Python error: ") || starts_with(line, "Timeout (");
}

// "  File "train.py", line 84 in train_step"; an unknown part is "???".
std::optional<model::Place> parse_frame(std::string_view line) {
    constexpr std::string_view kFile = "  File ";
    constexpr std::string_view kLine = ", line ";
    constexpr std::string_view kIn = " in ";
    if (!starts_with(line, kFile)) return std::nullopt;
    const size_t line_at = line.rfind(kLine);
    if (line_at == std::string_view::npos || line_at < kFile.size()) return std::nullopt;
    const size_t in_at = line.find(kIn, line_at + kLine.size());
    if (in_at == std::string_view::npos) return std::nullopt;
    std::string_view file = line.substr(kFile.size(), line_at - kFile.size());
    if (file.size() >= 2 && file.front() == '"' && file.back() == '"') file = file.substr(1, file.size() - 2);
    model::Place place;
    place.file = file == "???" ? "" : clean_text(file);
    const size_t number_at = line_at + kLine.size();
    place.line = parse_integer(line.substr(number_at, in_at - number_at)).value_or(0);
    place.function = clean_text(line.substr(in_at + kIn.size()));
    return place;
}

struct Dump {
    model::PythonStack stack;
    bool fatal = false;       // written on a fatal signal
    bool all_threads = true;  // faulthandler stops after 100 threads with a line "..."
    size_t frames = 0;
};

// Dumps have no separator: within one, a blank line precedes every thread but the first.
class StackReader {
 public:
    explicit StackReader(size_t most_frames) : most_frames_(most_frames) {}

    void read_line(std::string_view line) {
        if (is_fatal_header(line)) {
            begin_dump();
            current_.fatal = starts_with(line, "Fatal");
            after_fatal_ = true;
        } else if (is_thread_header(line)) {
            begin_thread(line);
        } else if (line == "...") {
            current_.all_threads = false;
        } else if (auto place = parse_frame(line)) {
            add_frame(std::move(*place));
        }
        previous_blank_ = line.empty();
    }

    Dump finish() {
        begin_dump();
        return std::move(newest_);
    }
    bool frames_left_out() const { return frames_left_out_; }

 private:
    void begin_dump() {
        if (current_.frames > 0) newest_ = std::move(current_);
        current_ = Dump();
        after_fatal_ = false;
    }

    void begin_thread(std::string_view line) {
        if (!previous_blank_ && !after_fatal_) begin_dump();
        after_fatal_ = false;
        current_.stack.threads.emplace_back();
        model::PythonStack::Thread& thread = current_.stack.threads.back();
        thread.is_main = starts_with(line, "Current thread");
        thread.crashed = current_.fatal && thread.is_main;
    }

    void add_frame(model::Place place) {
        if (current_.stack.threads.empty()) return;
        if (current_.frames >= most_frames_) {
            frames_left_out_ = true;
            return;
        }
        current_.stack.threads.back().frames.push_back(std::move(place));
        ++current_.frames;
    }

    size_t most_frames_;
    Dump current_;
    Dump newest_;
    bool previous_blank_ = false;
    bool after_fatal_ = false;
    bool frames_left_out_ = false;
};

// CPython lists the newest thread first, so the main thread ends a complete dump. A signal may be handled by
// another thread, which is then the "current" one.
void mark_main_thread(Dump& dump) {
    auto& threads = dump.stack.threads;
    if (threads.empty() || !dump.all_threads) return;
    for (auto& thread : threads)
        thread.is_main = false;
    threads.back().is_main = true;
}

}  // namespace

bool looks_like_python_stack(std::string_view prefix) {
    const std::string_view line = prefix.substr(0, prefix.find('\n'));
    return is_thread_header(line);
}

std::optional<model::PythonStack> read_python_stack(const std::string& source, std::string_view text,
                                                    const Limits& limits, Notes& notes) {
    // What CPython writes for a thread that runs no Python code, as at the end of the interpreter.
    const bool outside_of_python = text.find("<no Python frame>") != std::string_view::npos;
    StackReader reader(limits.stack_frames);
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (ends_with(line, "\r")) line.remove_suffix(1);
        reader.read_line(line);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    Dump dump = reader.finish();
    if (reader.frames_left_out()) notes.add(source, "Python stacks: frames left out");
    if (dump.frames == 0) {
        if (!outside_of_python) notes.add(source, "no Python stack in it");
        return std::nullopt;
    }
    mark_main_thread(dump);
    dump.stack.source.source = source;
    return std::move(dump.stack);
}

}  // namespace inquest::evidence
