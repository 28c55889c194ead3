#include "analyzer/evidence/box_records.h"

#include <algorithm>
#include <bit>

#include "analyzer/evidence/replica_records.h"

namespace inquest::evidence {

namespace {

template <typename Calls, typename OpenCalls>
void open_call(Calls& calls, OpenCalls& open, uint64_t ident) {
    open[ident] = calls.size() - 1;
}

// An end whose begin was overwritten has nothing to close.
template <typename Calls, typename OpenCalls>
void close_call(Calls& calls, OpenCalls& open, uint64_t ident, model::WallNs end_wall_ns) {
    const auto at = open.find(ident);
    if (at == open.end()) return;
    calls[at->second].end_wall_ns = end_wall_ns;
    open.erase(at);
}

template <typename List, typename Time>
void sort_by(List& list, Time time) {
    std::stable_sort(list.begin(), list.end(),
                     [time](const auto& a, const auto& b) { return a.*time < b.*time; });
}

}  // namespace

void BoxRecordReader::read(const BoxRing& ring, const std::string& ring_name) {
    for (const BoxRecord& found : ring.records) {
        context_.move_to(ring_name + " record " + std::to_string(found.number));
        read_call(found.record);
    }
}

void BoxRecordReader::finish() {
    sort_by(rank_.collectives, &model::CollectiveCall::begin_wall_ns);
    sort_by(rank_.backwards, &model::Backward::begin_wall_ns);
    sort_by(rank_.phases, &model::PhaseSpan::begin_wall_ns);
    sort_by(rank_.steps, &model::OptimizerStep::wall_ns);
    sort_by(rank_.exceptions, &model::ExceptionSeen::wall_ns);
    sort_by(rank_.child_ends, &model::ChildEnd::wall_ns);
    sort_by(rank_.groups, &model::ProcessGroup::wall_ns);
    sort_by(rank_.models, &model::WrappedModel::wall_ns);
    finish_replica_records(rank_.replica);
    // Loss bits of 0 in the live counters are a loss of 0.0 or none at all: the records tell.
    if (!rank_.loss && !rank_.backwards.empty()) rank_.loss = rank_.backwards.back().loss;
}

void BoxRecordReader::read_call(const inquest_box_record& record) {
    switch (record.kind) {
        case INQUEST_KIND_COLLECTIVE_BEGIN:
            return add_collective(record);
        case INQUEST_KIND_COLLECTIVE_END:
            return close_call(rank_.collectives, open_collectives_, record.ident, context_.wall(record));
        case INQUEST_KIND_BACKWARD_BEGIN:
            return add_backward(record);
        case INQUEST_KIND_BACKWARD_END:
            return close_call(rank_.backwards, open_backwards_, record.ident, context_.wall(record));
        case INQUEST_KIND_PHASE_BEGIN:
            return add_phase(record);
        case INQUEST_KIND_PHASE_END:
            return close_call(rank_.phases, open_phases_, record.ident, context_.wall(record));
        default:
            return read_event(record);
    }
}

void BoxRecordReader::read_event(const inquest_box_record& record) {
    switch (record.kind) {
        case INQUEST_KIND_STATE:
            return;  // the live counters tell the newest one
        case INQUEST_KIND_ENVIRONMENT:
            return add_environment(record);
        case INQUEST_KIND_GROUP:
            return add_group(record);
        case INQUEST_KIND_MODEL:
            return add_model(record);
        case INQUEST_KIND_STEP:
            return add_step(record);
        case INQUEST_KIND_EXCEPTION:
            return add_exception(record);
        case INQUEST_KIND_CHILD_END:
            return add_child_end(record);
        case INQUEST_KIND_EXIT:
            rank_.exit_status = static_cast<int>(record.number[INQUEST_NUMBER_EXIT_STATUS]);
            return;
        default:
            if (!read_replica_record(record, context_, rank_.replica)) {
                context_.note("black box: unknown record kind " + std::to_string(record.kind));
            }
    }
}

void BoxRecordReader::add_group(const inquest_box_record& record) {
    model::ProcessGroup group;
    group.name = context_.text(record, INQUEST_TEXT_GROUP_NAME);
    group.backend = context_.text(record, INQUEST_TEXT_GROUP_BACKEND);
    group.description = context_.text(record, INQUEST_TEXT_GROUP_DESCRIPTION);
    group.ranks = context_.ranks(record, INQUEST_TEXT_GROUP_RANKS);
    group.timeout_ns = record.number[INQUEST_NUMBER_GROUP_TIMEOUT_NS];
    group.wall_ns = context_.wall(record);
    rank_.groups.push_back(std::move(group));
}

void BoxRecordReader::add_model(const inquest_box_record& record) {
    model::WrappedModel wrapped;
    wrapped.wrapper = context_.text(record, INQUEST_TEXT_WRAPPER);
    wrapped.model = context_.text(record, INQUEST_TEXT_MODEL);
    wrapped.parameters = record.number[INQUEST_NUMBER_PARAMETERS];
    wrapped.trainable = record.number[INQUEST_NUMBER_TRAINABLE];
    wrapped.buffers = record.number[INQUEST_NUMBER_BUFFERS];
    wrapped.parameter_hash = static_cast<uint64_t>(record.number[INQUEST_NUMBER_PARAMETER_HASH]);
    wrapped.place = context_.place(record);
    wrapped.wall_ns = context_.wall(record);
    rank_.models.push_back(std::move(wrapped));
}

void BoxRecordReader::add_collective(const inquest_box_record& record) {
    model::CollectiveCall call;
    call.ident = record.ident;
    call.operation = context_.text(record, INQUEST_TEXT_OPERATION);
    call.group = context_.text(record, INQUEST_TEXT_COLLECTIVE_GROUP);
    call.dtype = context_.text(record, INQUEST_TEXT_DTYPE);
    call.shape = context_.text(record, INQUEST_TEXT_SHAPE);
    call.elements = record.number[INQUEST_NUMBER_ELEMENTS];
    call.sequence = record.number[INQUEST_NUMBER_SEQUENCE];
    call.calls_hash = static_cast<uint64_t>(record.number[INQUEST_NUMBER_CALLS_HASH]);
    call.peer = record.number[INQUEST_NUMBER_PEER];
    call.step = record.number[INQUEST_NUMBER_COLLECTIVE_STEP];
    call.async = record.number[INQUEST_NUMBER_ASYNC] != 0;
    call.place = context_.place(record);
    call.begin_wall_ns = context_.wall(record);
    call.source = context_.source();
    rank_.collectives.push_back(std::move(call));
    open_call(rank_.collectives, open_collectives_, record.ident);
}

void BoxRecordReader::add_backward(const inquest_box_record& record) {
    model::Backward backward;
    backward.ident = record.ident;
    backward.step = record.number[INQUEST_NUMBER_BACKWARD_STEP];
    if (record.number[INQUEST_NUMBER_HAS_LOSS] != 0) {
        backward.loss = std::bit_cast<double>(record.number[INQUEST_NUMBER_LOSS_BITS]);
    }
    backward.place = context_.place(record);
    backward.begin_wall_ns = context_.wall(record);
    backward.source = context_.source();
    rank_.backwards.push_back(std::move(backward));
    open_call(rank_.backwards, open_backwards_, record.ident);
}

void BoxRecordReader::add_step(const inquest_box_record& record) {
    model::OptimizerStep step;
    step.step = record.number[INQUEST_NUMBER_STEP];
    step.micro_batches = record.number[INQUEST_NUMBER_MICRO_BATCHES];
    step.optimizer = record.number[INQUEST_NUMBER_STEP_OPTIMIZER];
    step.optimizer_step = record.number[INQUEST_NUMBER_OPTIMIZER_STEP];
    step.unsynced = static_cast<uint64_t>(record.number[INQUEST_NUMBER_STEP_UNSYNCED]);
    step.wrapped = record.number[INQUEST_NUMBER_STEP_WRAPPED];
    step.bare = record.number[INQUEST_NUMBER_STEP_BARE];
    step.place = context_.place(record);
    step.wall_ns = context_.wall(record);
    step.source = context_.source();
    rank_.steps.push_back(std::move(step));
}

void BoxRecordReader::add_phase(const inquest_box_record& record) {
    const int64_t phase = record.number[INQUEST_NUMBER_PHASE];
    if (phase < INQUEST_PHASE_NONE || phase > INQUEST_PHASE_BACKWARD) {
        return context_.note("black box: unknown phase " + std::to_string(phase));
    }
    model::PhaseSpan span;
    span.ident = record.ident;
    span.phase = static_cast<inquest_phase>(phase);
    span.call = context_.text(record, INQUEST_TEXT_PHASE_CALL);
    span.place = context_.place(record);
    span.begin_wall_ns = context_.wall(record);
    span.source = context_.source();
    rank_.phases.push_back(std::move(span));
    open_call(rank_.phases, open_phases_, record.ident);
}

void BoxRecordReader::add_exception(const inquest_box_record& record) {
    model::ExceptionSeen seen;
    seen.type = context_.text(record, INQUEST_TEXT_EXCEPTION_TYPE);
    seen.message = context_.text(record, INQUEST_TEXT_EXCEPTION_MESSAGE);
    seen.call = context_.text(record, INQUEST_TEXT_EXCEPTION_CALL);
    seen.uncaught = record.number[INQUEST_NUMBER_UNCAUGHT] != 0;
    seen.in_collective = record.number[INQUEST_NUMBER_IN_COLLECTIVE] != 0;
    seen.place = context_.place(record);
    seen.wall_ns = context_.wall(record);
    seen.source = context_.source();
    rank_.exceptions.push_back(std::move(seen));
}

void BoxRecordReader::add_child_end(const inquest_box_record& record) {
    model::ChildEnd child;
    child.pid = static_cast<int>(record.number[INQUEST_NUMBER_CHILD_PID]);
    child.wait_status = static_cast<int>(record.number[INQUEST_NUMBER_CHILD_WAIT_STATUS]);
    child.was_told = record.number[INQUEST_NUMBER_CHILD_WAS_TOLD] != 0;
    child.wall_ns = context_.wall(record);
    child.source = context_.source();
    rank_.child_ends.push_back(std::move(child));
}

void BoxRecordReader::add_environment(const inquest_box_record& record) {
    rank_.environment[context_.text(record, INQUEST_TEXT_KEY)] = context_.text(record, INQUEST_TEXT_VALUE);
}

}  // namespace inquest::evidence
