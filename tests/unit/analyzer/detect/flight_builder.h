// Flight recorder dumps for detector tests: what each rank's recorder holds of one group.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/timeline.h"

namespace inquest::test {

struct FlightCall {
    std::string operation;
    int64_t sequence = 0;
    int64_t elements = 1;
    bool completed = true;
};

inline model::FlightRecord flight_of(int rank, const std::vector<int>& members,
                                     const std::vector<FlightCall>& calls, const std::string& group = "0") {
    model::FlightRecord flight;
    flight.rank = rank;
    flight.group_ranks[group] = members;
    flight.source = {"_dump_" + std::to_string(rank), ""};
    for (const FlightCall& call : calls) {
        model::FlightEntry entry;
        entry.group = group;
        entry.operation = "nccl:" + call.operation;
        entry.collective_sequence = call.sequence;
        entry.input_sizes = {{call.elements}};
        entry.state = call.completed ? "completed" : "scheduled";
        flight.entries.push_back(entry);
    }
    return flight;
}

}  // namespace inquest::test
