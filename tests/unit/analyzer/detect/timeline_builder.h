// Builds timelines for tests the way a training job makes them: ranks that take steps, call collectives at
// lines of a program, wait, fail and end. Times are seconds since the start of the step.
#pragma once
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/timeline.h"

namespace inquest::test {

inline constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
inline int64_t at(double seconds) {
    return kStartNs + static_cast<int64_t>(seconds * 1e9);
}
inline model::Place line(int64_t number, const std::string& function = "main") {
    return {"/home/user/train.py", function, number};
}

class TimelineBuilder {
 public:
    explicit TimelineBuilder(int world_size) {
        timeline_.job = 4711;
        timeline_.step = "0";
        timeline_.world_size = world_size;
        timeline_.task_count = world_size;
        timeline_.node_count = 1;
        for (int rank = 0; rank < world_size; ++rank)
            add_rank(rank, world_size);
        timeline_.nodes.push_back({});
        timeline_.nodes.back().name = "n1";
        seen(100);
    }

    // Evidence was collected at this moment.
    TimelineBuilder& seen(double seconds) {
        timeline_.nodes.front().collected_wall_ns = at(seconds);
        return *this;
    }

    // A collective that every rank completes.
    TimelineBuilder& all_call(const std::string& operation, int64_t number, double seconds,
                              int64_t elements = 1) {
        for (model::Rank& rank : timeline_.ranks)
            call(*rank.rank, operation, number, seconds, seconds + 0.1, elements);
        return *this;
    }

    TimelineBuilder& call(int rank, const std::string& operation, int64_t number, double begin, double end,
                          int64_t elements = 1, const std::string& function = "main") {
        model::CollectiveCall call;
        call.operation = operation;
        call.group = "0";
        call.dtype = "torch.float32";
        call.elements = elements;
        call.sequence = static_cast<int64_t>(of(rank).collectives.size()) + 1;
        call.place = line(number, function);
        call.begin_wall_ns = at(begin);
        if (end >= 0) call.end_wall_ns = at(end);
        call.source = {"n1/box-" + std::to_string(rank), "collectives"};
        of(rank).collectives.push_back(call);
        progress(rank, begin);
        return *this;
    }

    // Never returns.
    TimelineBuilder& waits(int rank, const std::string& operation, int64_t number, double begin,
                           int64_t elements = 1, const std::string& function = "main") {
        return call(rank, operation, number, begin, -1, elements, function);
    }

    TimelineBuilder& backward(int rank, int64_t number, double begin, double end = -1) {
        model::Backward backward;
        backward.step = of(rank).step;
        backward.place = line(number);
        backward.begin_wall_ns = at(begin);
        if (end >= 0) backward.end_wall_ns = at(end);
        of(rank).backwards.push_back(backward);
        progress(rank, begin);
        return *this;
    }

    TimelineBuilder& save(int rank, int64_t number, double begin, double end = -1) {
        model::PhaseSpan phase;
        phase.phase = INQUEST_PHASE_SAVE;
        phase.call = "torch.save";
        phase.place = line(number);
        phase.begin_wall_ns = at(begin);
        if (end >= 0) phase.end_wall_ns = at(end);
        of(rank).phases.push_back(phase);
        progress(rank, begin);
        return *this;
    }

    TimelineBuilder& raises(int rank, const std::string& type, const std::string& message, int64_t number,
                            double seconds, bool in_collective = false, bool uncaught = true) {
        model::ExceptionSeen exception;
        exception.type = type;
        exception.message = message;
        exception.uncaught = uncaught;
        exception.in_collective = in_collective;
        exception.place = line(number);
        exception.wall_ns = at(seconds);
        of(rank).exceptions.push_back(exception);
        if (uncaught) ends(rank, 1 << 8, seconds + 0.05);
        return *this;
    }

    TimelineBuilder& ends(int rank, int wait_status, double seconds) {
        model::TaskEnd end;
        end.task = rank;
        end.pid = of(rank).pid;
        end.wait_status = wait_status;
        end.exited_wall_ns = at(seconds);
        of(rank).end = end;
        timeline_.nodes.front().tasks.push_back(end);
        return *this;
    }

    TimelineBuilder& loses_peer(int rank, int64_t number, double seconds) {
        return raises(rank, "RuntimeError", "[pair.cc:547] Connection closed by peer [10.0.0.2]:4567", number,
                      seconds, true);
    }

    TimelineBuilder& works(int rank, int64_t bytes = 0) {
        model::ProcessSample sample;
        sample.alive = true;
        sample.cpu_after_ns = 900'000'000;
        sample.cpu_interval_ns = 1'000'000'000;
        sample.bytes_written_after = bytes;
        of(rank).sample = sample;
        return *this;
    }

    TimelineBuilder& steps(int rank, int64_t count) {
        of(rank).step = count;
        return *this;
    }

    model::Rank& of(int rank) { return timeline_.ranks[static_cast<size_t>(rank)]; }
    model::Timeline& timeline() { return timeline_; }

 private:
    void add_rank(int number, int world_size) {
        model::Rank rank;
        rank.rank = number;
        rank.task = number;
        rank.world_size = world_size;
        rank.node = "n1";
        rank.pid = 1000 + number;
        rank.state = INQUEST_STATE_GROUP_READY;
        rank.source = {"n1/box-" + std::to_string(number), ""};
        model::ProcessGroup group;
        group.name = "0";
        for (int member = 0; member < world_size; ++member)
            group.ranks.push_back(member);
        rank.groups.push_back(group);
        timeline_.ranks.push_back(rank);
    }

    void progress(int rank, double seconds) {
        of(rank).last_progress_wall_ns = std::max(of(rank).last_progress_wall_ns, at(seconds));
    }

    model::Timeline timeline_;
};

}  // namespace inquest::test
