// A flight recorder as torch's worker server answers it (handler fr_trace_json), for benchmarks.
#pragma once
#include <string>

namespace inquest::bench {

inline std::string flight_json(size_t entries) {
    std::string text = R"({"entries":[)";
    for (size_t i = 0; i < entries; ++i) {
        const std::string number = std::to_string(i);
        text += (i > 0 ? "," : "") + std::string(R"({"collective_seq_id":)") + number +
                R"(,"input_dtypes":["Float"],"input_sizes":[[1024,16]],"is_p2p":false,"op_id":)" + number +
                R"(,"output_dtypes":["Float"],"output_sizes":[[1024,16]],"p2p_seq_id":0,"pg_id":0,)" +
                R"("process_group":["0","default_pg"],"profiling_name":"gloo:all_reduce","record_id":)" +
                number + R"(,"retired":true,"state":"scheduled","time_created_ns":1700000000000000000,)" +
                R"("time_discovered_completed_ns":0,"time_discovered_started_ns":0,"timeout_ms":600000})";
    }
    return text + R"(],"pg_config":{},"version":"2.10"})";
}

}  // namespace inquest::bench
