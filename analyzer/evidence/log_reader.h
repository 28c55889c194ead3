// Splits a log into lines. Fed in pieces, so that a log may be larger than memory: its beginning and its end
// are kept, everything between is counted.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/model/timeline.h"

namespace inquest::evidence {

class LogReader {
 public:
    // `limits` and `notes` must outlive the reader.
    LogReader(std::string name, const Limits& limits, Notes& notes);
    void feed(std::string_view bytes);
    // The lines: valid UTF-8, without terminal colours. A carriage return (progress bars) ends a line too,
    // without counting as one. Call once.
    model::LogFile finish();

 private:
    void take_partial(std::string_view bytes);
    void end_line(std::string_view line);
    void keep(std::string_view segment);
    void keep_in_tail(model::LogLine line);
    void settle_labels(model::LogFile& log) const;
    std::string line_text() const;

    std::string name_;
    const Limits& limits_;
    Notes& notes_;
    std::string partial_;  // of a line whose end has not come yet
    int64_t line_number_ = 1;
    std::vector<model::LogLine> head_;
    std::deque<model::LogLine> tail_;
    uint64_t head_bytes_ = 0;
    uint64_t tail_bytes_ = 0;
    int64_t dropped_lines_ = 0;
    std::vector<int> labels_;  // task label of each line in head_, -1 none
    std::deque<int> tail_labels_;
    int64_t labelled_lines_ = 0;
    int64_t text_lines_ = 0;
};

}  // namespace inquest::evidence
