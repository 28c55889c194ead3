// Turns the records of a black box into the lists of model::Rank. Begin and end records are paired by ident.
#pragma once
#include <string>
#include <unordered_map>

#include "analyzer/evidence/box_image.h"
#include "analyzer/evidence/clock_pair.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

class BoxRecordReader {
 public:
    // Adds to `rank`, whose source must be set. All arguments must outlive the reader.
    BoxRecordReader(const BoxImage& image, const ClockPair& clock, model::Rank& rank, Notes& notes)
        : image_(image), clock_(clock), rank_(rank), notes_(notes) {}
    void read(const BoxRing& ring, const std::string& ring_name);
    // Sorts everything by time. Call once, after all rings.
    void finish();

 private:
    using OpenCalls = std::unordered_map<uint64_t, size_t>;  // ident to index in the list

    void read_call(const inquest_box_record& record);
    void read_event(const inquest_box_record& record);
    void add_group(const inquest_box_record& record);
    void add_model(const inquest_box_record& record);
    void add_collective(const inquest_box_record& record);
    void add_backward(const inquest_box_record& record);
    void add_phase(const inquest_box_record& record);
    void add_exception(const inquest_box_record& record);
    void add_environment(const inquest_box_record& record);

    std::string text(const inquest_box_record& record, int slot);
    model::Place place(const inquest_box_record& record);
    model::SourceRef source() const;
    model::WallNs wall(const inquest_box_record& record) const { return clock_.wall_of(record.mono_ns); }

    const BoxImage& image_;
    ClockPair clock_;
    model::Rank& rank_;
    Notes& notes_;
    std::string position_;  // of the record being read: "events record 17"
    OpenCalls open_collectives_;
    OpenCalls open_backwards_;
    OpenCalls open_phases_;
};

}  // namespace inquest::evidence
