// Collects damage met while reading. Equal notes of one source are counted instead of repeated.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/source.h"

namespace inquest::evidence {

class Notes {
 public:
    // `position` of the first of several equal notes is kept.
    void add(const std::string& source, const std::string& text, const std::string& position = "");
    std::vector<model::Note> take();

 private:
    std::vector<model::Note> list_;
    std::map<std::pair<std::string, std::string>, size_t> index_;
};

}  // namespace inquest::evidence
