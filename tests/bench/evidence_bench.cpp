// How fast evidence is read: evidence_bench [DIRECTORY]. Prints flight recorder entries per second from
// pickles and JSON and log megabytes per second, on one core. With DIRECTORY it also writes the same bytes
// there, for evidence_bench.py, which reads them with Python in the same run.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/json_tree.h"
#include "analyzer/evidence/log_reader.h"
#include "analyzer/evidence/pickle.h"
#include "tests/bench/flight_json.h"
#include "tests/unit/analyzer/evidence/flight_builder.h"

namespace {

using namespace inquest;

constexpr size_t kEntries = 20'000;
constexpr size_t kLogLines = 500'000;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// CPU time, best of several runs: the machine may be shared.
double seconds_of(const std::function<void()>& work) {
    double best = 1e9;
    for (int run = 0; run < 7; ++run) {
        const double start = cpu_seconds();
        work();
        best = std::min(best, cpu_seconds() - start);
    }
    return best;
}

std::string make_dump(size_t frames) {
    std::vector<testing::FlightCall> calls(kEntries);
    for (size_t i = 0; i < calls.size(); ++i) {
        calls[i] = {
            "nccl:all_reduce", static_cast<int64_t>(i), "completed", {1024, static_cast<int64_t>(i)}, frames};
    }
    return testing::flight_pickle(calls);
}

std::string make_log() {
    std::string text;
    for (size_t i = 0; i < kLogLines; ++i) {
        text += "[rank" + std::to_string(i % 64) + "]: 2026-01-02 03:04:05,678 INFO trainer step " +
                std::to_string(i) + " loss 0.1234 grad_norm 1.5678 tokens/s 123456\n";
    }
    return text;
}

void measure_dump(const char* what, const std::string& dump) {
    const evidence::Limits limits;
    const bool is_pickle = evidence::looks_like_pickle(dump);
    const double parse = seconds_of(
        [&] { is_pickle ? evidence::read_pickle(dump, limits) : evidence::read_json(dump, limits); });
    const double read = seconds_of([&] {
        evidence::Notes notes;
        evidence::read_flight_record("_dump_0", dump, limits, notes);
    });
    printf("%-28s %9.0f entries/s parsed %9.0f entries/s read (%.0f bytes per entry)\n", what,
           double(kEntries) / parse, double(kEntries) / read, double(dump.size()) / double(kEntries));
}

void measure_log(const std::string& log) {
    const evidence::Limits limits;
    const double read = seconds_of([&] {
        evidence::Notes notes;
        evidence::LogReader reader("job.log", limits, notes);
        reader.feed(log);
        reader.finish();
    });
    printf("%-28s %9.0f MB/s\n", "log", double(log.size()) / 1e6 / read);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string plain = make_dump(0);
    const std::string framed = make_dump(12);
    const std::string log = make_log();
    measure_dump("pickle without stacks", plain);
    measure_dump("pickle with 12 frames", framed);
    measure_dump("JSON", bench::flight_json(kEntries));
    measure_log(log);
    if (argc < 2) return 0;
    std::ofstream(std::string(argv[1]) + "/_dump_0", std::ios::binary) << plain;
    std::ofstream(std::string(argv[1]) + "/_dump_1", std::ios::binary) << framed;
    std::ofstream(std::string(argv[1]) + "/job.log", std::ios::binary) << log;
    return 0;
}
