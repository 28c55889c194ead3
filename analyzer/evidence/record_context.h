// What every reader of box records needs: texts, places, times and the position of the record being read.
#pragma once
#include <string>
#include <vector>

#include "analyzer/evidence/box_image.h"
#include "analyzer/evidence/clock_pair.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/model/source.h"

namespace inquest::evidence {

class RecordContext {
 public:
    // `image` and `notes` must outlive the context. `source` names the box.
    RecordContext(const BoxImage& image, const ClockPair& clock, std::string source, Notes& notes)
        : image_(image), clock_(clock), source_(std::move(source)), notes_(notes) {}

    // "events record 17": of the record being read.
    void move_to(std::string position) { position_ = std::move(position); }
    void note(const std::string& text) { notes_.add(source_, text, position_); }

    std::string text(const inquest_box_record& record, int slot);
    std::vector<int> ranks(const inquest_box_record& record, int slot);
    model::Place place(const inquest_box_record& record);
    model::SourceRef source() const { return {source_, position_}; }
    model::WallNs wall(const inquest_box_record& record) const { return clock_.wall_of(record.mono_ns); }

 private:
    const BoxImage& image_;
    ClockPair clock_;
    std::string source_;
    Notes& notes_;
    std::string position_;
};

}  // namespace inquest::evidence
