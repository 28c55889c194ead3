#include "analyzer/evidence/log_reader.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "analyzer/evidence/log_prefix.h"
#include "analyzer/evidence/log_time.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr uint64_t kLineOverheadBytes = 16;
constexpr char kEscape = '\x1B';

// Without terminal control sequences: ESC [ parameters final.
std::string without_colours(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != kEscape) {
            plain.push_back(text[at]);
            continue;
        }
        if (at + 1 >= text.size() || text[at + 1] != '[') continue;
        at += 2;
        while (at < text.size() && (text[at] < '@' || text[at] > '~'))
            ++at;
    }
    return plain;
}

std::string visible_text(std::string_view bytes) {
    const bool has_colours = memchr(bytes.data(), kEscape, bytes.size()) != nullptr;
    return has_colours ? clean_text(without_colours(bytes)) : clean_text(bytes);
}

}  // namespace

LogReader::LogReader(std::string name, const Limits& limits, Notes& notes)
    : name_(std::move(name)), limits_(limits), notes_(notes) {}

std::string LogReader::line_text() const {
    return "line " + std::to_string(line_number_);
}

void LogReader::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        if (end == std::string_view::npos) return take_partial(bytes);
        if (partial_.empty()) {
            end_line(bytes.substr(0, end));
        } else {
            take_partial(bytes.substr(0, end));
            end_line(partial_);
        }
        partial_.clear();
        bytes.remove_prefix(end + 1);
    }
}

void LogReader::take_partial(std::string_view bytes) {
    // One byte more than is kept shows end_line that the line was longer.
    const size_t most = limits_.log_line_bytes + 1;
    partial_.append(bytes.substr(0, most - std::min(most, partial_.size())));
}

void LogReader::end_line(std::string_view line) {
    if (line.size() > limits_.log_line_bytes) {
        notes_.add(name_, "log: end of a long line left out", line_text());
        line = line.substr(0, limits_.log_line_bytes);
    }
    if (ends_with(line, "\r")) line.remove_suffix(1);
    while (true) {
        const size_t end = line.find('\r');
        const std::string_view segment = line.substr(0, end);
        if (end == std::string_view::npos || !segment.empty()) keep(segment);
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 1);
    }
    ++line_number_;
}

void LogReader::keep(std::string_view segment) {
    model::LogLine line;
    line.number = line_number_;
    line.text = visible_text(segment);
    const LogPrefix prefix = parse_log_prefix(line.text);
    line.rank = prefix.rank;
    if (const auto time = find_log_time(line.text)) {
        line.wall_ns = time->wall_ns;
        line.clock = time->clock;
    }
    text_lines_ += line.text.empty() ? 0 : 1;
    labelled_lines_ += prefix.task_label ? 1 : 0;
    const uint64_t bytes = line.text.size() + kLineOverheadBytes;
    if (tail_.empty() && head_bytes_ + bytes <= limits_.log_head_bytes) {
        head_bytes_ += bytes;
        labels_.push_back(prefix.task_label.value_or(-1));
        head_.push_back(std::move(line));
        return;
    }
    tail_labels_.push_back(prefix.task_label.value_or(-1));
    keep_in_tail(std::move(line));
}

void LogReader::keep_in_tail(model::LogLine line) {
    tail_bytes_ += line.text.size() + kLineOverheadBytes;
    tail_.push_back(std::move(line));
    while (tail_bytes_ > limits_.log_tail_bytes) {
        tail_bytes_ -= tail_.front().text.size() + kLineOverheadBytes;
        tail_.pop_front();
        tail_labels_.pop_front();
        ++dropped_lines_;
    }
}

model::LogFile LogReader::finish() {
    if (!partial_.empty()) end_line(partial_);
    if (dropped_lines_ > 0) {
        notes_.add(name_, "log: " + std::to_string(dropped_lines_) + " lines left out in the middle",
                   head_.empty() ? "" : "after line " + std::to_string(head_.back().number));
    }
    model::LogFile log;
    log.name = name_;
    log.lines = std::move(head_);
    log.lines.insert(log.lines.end(), std::make_move_iterator(tail_.begin()),
                     std::make_move_iterator(tail_.end()));
    settle_labels(log);
    return log;
}

// srun --label puts a number before every line; "3: " in a few lines is something else.
void LogReader::settle_labels(model::LogFile& log) const {
    if (2 * labelled_lines_ < text_lines_) return;
    for (size_t i = 0; i < log.lines.size(); ++i) {
        const int label = i < labels_.size() ? labels_[i] : tail_labels_[i - labels_.size()];
        if (!log.lines[i].rank && label >= 0) log.lines[i].rank = label;
    }
}

}  // namespace inquest::evidence
