#include "analyzer/evidence/notes.h"

namespace inquest::evidence {

namespace {
constexpr size_t kMostNotes = 10'000;
}

void Notes::add(const std::string& source, const std::string& text, const std::string& position) {
    const bool full = list_.size() >= kMostNotes;
    const std::pair<std::string, std::string> key =
        full ? std::pair<std::string, std::string>("", "further notes left out") : std::pair(source, text);
    auto [at, is_new] = index_.emplace(key, list_.size());
    if (!is_new) {
        ++list_[at->second].count;
        return;
    }
    list_.push_back({{key.first, full ? "" : position}, key.second, 1});
}

std::vector<model::Note> Notes::take() {
    index_.clear();
    return std::move(list_);
}

}  // namespace inquest::evidence
