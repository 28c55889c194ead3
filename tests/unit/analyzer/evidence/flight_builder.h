// Writes flight recorder dumps with the keys and their order of PyTorch's FlightRecorderDetail.hpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/analyzer/evidence/pickle_builder.h"

namespace inquest::testing {

struct FlightCall {
    std::string operation = "nccl:all_reduce";
    int64_t sequence = 1;
    std::string state = "completed";
    std::vector<int64_t> shape = {1024, 16};
    size_t frames = 2;
};

inline void write_frames(PickleBuilder& out, size_t count) {
    out.text("frames").begin_list();
    for (size_t i = 0; i < count; ++i) {
        out.begin_dict().text("name").text(i == 0 ? "all_reduce" : "train_step").text("filename");
        out.text(i == 0 ? "distributed_c10d.py" : "train.py")
            .text("line")
            .integer(84 + int64_t(i))
            .end_dict();
    }
    out.end_list();
}

inline void write_sizes(PickleBuilder& out, const char* key, const std::vector<int64_t>& shape) {
    out.text(key).begin_list().begin_list();
    for (const int64_t dimension : shape)
        out.integer(dimension);
    out.end_list().end_list();
}

inline void write_entry(PickleBuilder& out, const FlightCall& call, int64_t record_id) {
    out.begin_dict();
    if (call.frames > 0) write_frames(out, call.frames);
    out.text("record_id").integer(record_id).text("pg_id").integer(0);
    out.text("process_group").text("0").text("default_pg").pair();
    out.text("collective_seq_id").integer(call.sequence).text("p2p_seq_id").integer(0);
    out.text("op_id").integer(call.sequence).text("profiling_name").text(call.operation);
    out.text("time_created_ns").integer(1'700'000'000'000'000'000 + record_id * 1000);
    write_sizes(out, "input_sizes", call.shape);
    out.text("input_dtypes").begin_list().text("Float").end_list();
    write_sizes(out, "output_sizes", call.shape);
    out.text("output_dtypes").begin_list().text("Float").end_list();
    out.text("state").text(call.state).text("time_discovered_started_ns").none();
    out.text("time_discovered_completed_ns").none().text("retired").boolean(call.state == "completed");
    out.text("timeout_ms").integer(600'000).text("is_p2p").boolean(false).end_dict();
}

inline std::string flight_pickle(const std::vector<FlightCall>& calls) {
    PickleBuilder out;
    out.begin_dict().text("version").text("2.10").text("pg_config").begin_dict().text("0").begin_dict();
    out.text("name").text("0").text("desc").text("default_pg").text("ranks").text("[0, 1, 2, 3]").end_dict();
    out.end_dict().text("pg_status").begin_dict().text("0").begin_dict();
    out.text("last_enqueued_collective").integer(7).text("last_started_collective").integer(-1);
    out.text("last_completed_collective").integer(6).end_dict().end_dict();
    out.text("entries").begin_list();
    for (size_t i = 0; i < calls.size(); ++i)
        write_entry(out, calls[i], static_cast<int64_t>(i));
    return out.end_list().end_dict().stop();
}

}  // namespace inquest::testing
