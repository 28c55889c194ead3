// Turns the records of a black box into the lists of model::Rank. Begin and end records are paired by ident.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "analyzer/evidence/box_image.h"
#include "analyzer/evidence/record_context.h"
#include "analyzer/model/rank.h"

namespace inquest::evidence {

class BoxRecordReader {
 public:
    // Adds to `rank`, whose source must be set. All arguments must outlive the reader.
    BoxRecordReader(const BoxImage& image, const ClockPair& clock, model::Rank& rank, Notes& notes)
        : context_(image, clock, rank.source.source, notes), rank_(rank) {}
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
    void add_step(const inquest_box_record& record);
    void add_phase(const inquest_box_record& record);
    void add_exception(const inquest_box_record& record);
    void add_child_end(const inquest_box_record& record);
    void add_environment(const inquest_box_record& record);

    RecordContext context_;
    model::Rank& rank_;
    OpenCalls open_collectives_;
    OpenCalls open_backwards_;
    OpenCalls open_phases_;
};

}  // namespace inquest::evidence
