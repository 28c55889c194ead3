// A plain log as a timeline; "[rank2]:" in front of a line gives it to that rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/timeline.h"

namespace inquest::test {

inline model::Timeline log_of(const std::vector<std::string>& lines) {
    model::Timeline timeline;
    model::LogFile file{"job.log", {}};
    for (const std::string& text : lines) {
        model::LogLine line;
        line.number = static_cast<int64_t>(file.lines.size()) + 1;
        line.text = text;
        if (text.rfind("[rank2]:", 0) == 0) line.rank = 2;
        file.lines.push_back(line);
    }
    timeline.logs.push_back(file);
    return timeline;
}

}  // namespace inquest::test
