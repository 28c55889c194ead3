#include "analyzer/evidence/black_box_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analyzer/evidence/box_image.h"
#include "analyzer/evidence/box_records.h"
#include "analyzer/evidence/clock_pair.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

// Slurm's special step numbers (slurm/slurm.h).
constexpr uint32_t kStepBatch = 0xFFFFFFFB;
constexpr uint32_t kStepExtern = 0xFFFFFFFC;
constexpr uint32_t kStepInteractive = 0xFFFFFFFA;

std::string step_text(uint32_t step) {
    switch (step) {
        case kStepBatch:
            return "batch";
        case kStepExtern:
            return "extern";
        case kStepInteractive:
            return "interactive";
        default:
            return std::to_string(step);
    }
}

template <size_t N>
std::string fixed_text(const char (&field)[N]) {
    return clean_text(std::string_view(field, strnlen(field, N)));
}

std::optional<int> not_negative(int32_t number) {
    if (number < 0) return std::nullopt;
    return number;
}

int64_t counter(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

void read_header(const inquest_box_header& header, BoxEvidence& box) {
    model::Rank& rank = box.rank;
    rank.task = not_negative(header.task);
    rank.node = fixed_text(header.node);
    rank.pid = header.pid;
    rank.parent_pid = header.parent_pid;
    rank.created_wall_ns = static_cast<model::WallNs>(header.created_wall_ns);
    rank.start_time_ticks = header.start_time_ticks;
    rank.program = fixed_text(header.program);
    if (header.job_id == 0) return;
    box.job = header.job_id;
    box.step = step_text(header.step_id);
}

void read_counters(const inquest_box_live& live, model::Rank& rank) {
    rank.step = counter(live.step);
    rank.micro_batches = counter(live.micro_batches);
    rank.backward_begun = counter(live.backward_begun);
    rank.backward_ended = counter(live.backward_ended);
    rank.collectives_begun = counter(live.collectives_begun);
    rank.collectives_ended = counter(live.collectives_ended);
    if (live.loss_bits != 0) rank.loss = std::bit_cast<double>(live.loss_bits);
}

void read_live(const inquest_box_live& live, const ClockPair& clock, model::Rank& rank, Notes& notes) {
    rank.rank = not_negative(live.rank);
    if (live.world_size > 0) rank.world_size = live.world_size;
    read_counters(live, rank);
    rank.phase_since_wall_ns = clock.wall_of(live.phase_since_mono_ns);
    rank.last_progress_wall_ns = clock.wall_of(live.last_progress_mono_ns);
    const std::string& source = rank.source.source;
    if (live.state >= INQUEST_STATE_CLAIMED && live.state <= INQUEST_STATE_EXITED) {
        rank.state = static_cast<inquest_state>(live.state);
    } else {
        notes.add(source, "black box: unknown state " + std::to_string(live.state));
    }
    if (live.phase <= INQUEST_PHASE_BACKWARD) {
        rank.phase = static_cast<inquest_phase>(live.phase);
    } else {
        notes.add(source, "black box: unknown phase " + std::to_string(live.phase));
    }
    if (rank.state == INQUEST_STATE_EXITED) rank.exit_status = live.exit_status;
    if (live.dropped_strings > 0)
        notes.add(source, "black box: texts were dropped, the string area was full");
}

// Boxes of earlier writers have zeros there.
bool has_digests_ring(const inquest_box_header& header) {
    return header.ring[INQUEST_RING_DIGESTS].capacity != 0;
}

std::optional<BoxRing> read_ring(const BoxImage& image, inquest_box_ring_index index, const char* name,
                                 const std::string& source, Notes& notes) {
    std::optional<BoxRing> ring = image.ring(index);
    const std::string where = std::string("ring ") + name;
    if (!ring) {
        notes.add(source, "black box: impossible place of " + where);
        return ring;
    }
    if (ring->torn > 0) {
        notes.add(source, "black box: " + std::to_string(ring->torn) + " torn records in " + where);
    }
    if (ring->beyond_end > 0) {
        notes.add(source, "black box: " + std::to_string(ring->beyond_end) + " records cut off in " + where);
    }
    return ring;
}

// Texts are only ever added to a box, so that those of the later copy serve for both.
void add_earlier(const BoxImage& image, std::string_view earlier_bytes, inquest_box_ring_index index,
                 BoxRing& ring) {
    if (earlier_bytes.empty()) return;
    const auto earlier = BoxImage::open(earlier_bytes);
    if (!earlier || earlier->header().pid != image.header().pid ||
        earlier->header().start_time_ticks != image.header().start_time_ticks)
        return;
    const auto older = earlier->ring(index);
    if (!older) return;
    const uint64_t first = ring.records.empty() ? UINT64_MAX : ring.records.front().number;
    const auto end = std::find_if(older->records.begin(), older->records.end(),
                                  [&](const BoxRecord& record) { return record.number >= first; });
    ring.records.insert(ring.records.begin(), older->records.begin(), end);
}

}  // namespace

std::optional<BoxEvidence> read_black_box(const std::string& source, std::string_view bytes, Notes& notes,
                                          std::string_view earlier) {
    const auto image = BoxImage::open(bytes);
    if (!image) {
        notes.add(source, image.error());
        return std::nullopt;
    }
    BoxEvidence box;
    box.rank.source.source = source;
    const ClockPair clock{image->header().created_mono_ns, image->header().created_wall_ns};
    if (image->truncated()) notes.add(source, "black box: truncated");
    read_header(image->header(), box);
    read_live(image->live(), clock, box.rank, notes);
    BoxRecordReader reader(*image, clock, box.rank, notes);
    if (auto events = read_ring(*image, INQUEST_RING_EVENTS, "events", source, notes)) {
        add_earlier(*image, earlier, INQUEST_RING_EVENTS, *events);
        reader.read(*events, "events");
    }
    if (auto collectives = read_ring(*image, INQUEST_RING_COLLECTIVES, "collectives", source, notes)) {
        box.rank.collectives_overwritten = collectives->overwritten;
        reader.read(*collectives, "collectives");
    }
    if (has_digests_ring(image->header())) {
        if (auto digests = read_ring(*image, INQUEST_RING_DIGESTS, "digests", source, notes)) {
            add_earlier(*image, earlier, INQUEST_RING_DIGESTS, *digests);
            reader.read(*digests, "digests");
        }
    }
    reader.finish();
    return box;
}

}  // namespace inquest::evidence
