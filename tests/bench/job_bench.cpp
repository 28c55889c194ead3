// How fast the evidence of a large job is analysed: job_bench KNOWLEDGE [RANKS [DIRECTORY]]. Writes what a
// harvest of a stalled job leaves (docs/formats/evidence.md), eight ranks a node, and analyses it as `inquest
// analyze` does: time on the clock and peak memory. The evidence stays in DIRECTORY, for evidence_bench.py,
// which reads the same flight recorders with Python; a DIRECTORY that holds evidence already is analysed as
// it is.
#include <fmt/format.h>
#include <sys/resource.h>
#include <zstd.h>

#include <chrono>
#include <optional>

#include "analyzer/detect/detect.h"
#include "analyzer/evidence/read_evidence.h"
#include "analyzer/knowledge/diagnose.h"
#include "tests/bench/flight_json.h"
#include "tests/unit/analyzer/evidence/box_builder.h"
#include "tests/unit/analyzer/evidence/temporary_directory.h"

namespace {

using namespace inquest;

constexpr int kRanksPerNode = 8;
constexpr size_t kFlightEntries = 2'000;  // configs/settings/evidence.yaml
constexpr int64_t kCalls = 1'000;         // of the 1,024 that the ring of a box holds
constexpr size_t kLogBytes = 256 * 1024;  // of a log, spank/harvest keeps its end
constexpr uint64_t kStepNs = 100'000'000;
constexpr uint64_t kCollectedNs = kCalls * kStepNs + 20'000'000'000;

struct Job {
    int ranks = 0;
    int nodes() const { return (ranks + kRanksPerNode - 1) / kRanksPerNode; }
};

std::string identity(int rank) {
    return fmt::format("{}-{}", 1000 + rank, 4711);
}

// Texts are written once, as libinquest does.
struct Texts {
    explicit Texts(testing::BoxBuilder& box)
        : file(box.string("/home/user/project/train.py")),
          function(box.string("train_step")),
          operation(box.string("all_reduce")),
          other(box.string("broadcast")),
          dtype(box.string("torch.float32")),
          group(box.string("default_pg")),
          shape(box.string("[1024, 16]")) {}
    uint32_t file, function, operation, other, dtype, group, shape;
};

void write_call(testing::BoxBuilder& box, const Texts& texts, int64_t sequence, bool other, bool open) {
    const auto at_ns = static_cast<uint64_t>(sequence) * kStepNs;
    const auto ident = static_cast<uint64_t>(sequence);
    const uint64_t number =
        box.record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, at_ns, ident, {},
                   {{INQUEST_NUMBER_LINE, 84},
                    {INQUEST_NUMBER_SEQUENCE, sequence},
                    {INQUEST_NUMBER_ELEMENTS, 16'384},
                    {INQUEST_NUMBER_PEER, -1}});
    uint32_t* text = box.slot(INQUEST_RING_COLLECTIVES, number)->text;
    text[INQUEST_TEXT_FILE] = texts.file;
    text[INQUEST_TEXT_FUNCTION] = texts.function;
    text[INQUEST_TEXT_OPERATION] = other ? texts.other : texts.operation;
    text[INQUEST_TEXT_DTYPE] = texts.dtype;
    text[INQUEST_TEXT_COLLECTIVE_GROUP] = texts.group;
    text[INQUEST_TEXT_SHAPE] = texts.shape;
    if (!open) box.record(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_END, at_ns + 1'000'000, ident);
}

// Rank 3 calls something else at last.
std::string box_of(const Job& job, int rank) {
    testing::BoxBuilder box;
    box.header.pid = 1000 + rank;
    box.header.task = rank;
    box.live.rank = rank;
    box.live.world_size = job.ranks;
    box.live.last_progress_mono_ns = testing::BoxBuilder::kMonoNs + kCalls * kStepNs;
    const Texts texts(box);
    for (int64_t call = 1; call <= kCalls; ++call)
        write_call(box, texts, call, call == kCalls && rank == 3, call == kCalls);
    for (uint64_t step = 1; step <= kCalls / 4; ++step) {
        const uint64_t at_ns = step * 4 * kStepNs;
        box.record(INQUEST_RING_EVENTS, INQUEST_KIND_BACKWARD_BEGIN, at_ns - 5'000'000, step);
        box.record(INQUEST_RING_EVENTS, INQUEST_KIND_BACKWARD_END, at_ns - 4'000'000, step);
        box.record(INQUEST_RING_EVENTS, INQUEST_KIND_STEP, at_ns - 3'000'000, step, {},
                   {{INQUEST_NUMBER_STEP, static_cast<int64_t>(step)}});
    }
    box.live.collectives_begun = kCalls;
    box.live.collectives_ended = kCalls - 1;
    return box.bytes();
}

std::string compressed(const std::string& bytes) {
    std::string result(ZSTD_compressBound(bytes.size()), '\0');
    result.resize(ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 1));
    return result;
}

std::string log_of(int node) {
    std::string text;
    for (size_t line = 0; text.size() < kLogBytes; ++line) {
        text += fmt::format("{}: 2026-01-02 03:04:05,678 INFO trainer step {} loss 0.1234 tokens/s 123456\n",
                            node * kRanksPerNode + static_cast<int>(line) % kRanksPerNode, line);
    }
    return text;
}

std::string node_json(const Job& job, int node) {
    const uint64_t mono_ns = testing::BoxBuilder::kMonoNs + kCollectedNs;
    const uint64_t wall_ns = testing::BoxBuilder::kWallNs + kCollectedNs;
    std::string processes;
    for (int rank = node * kRanksPerNode; rank < std::min((node + 1) * kRanksPerNode, job.ranks); ++rank) {
        processes += fmt::format(R"({}{{"pid":{},"start":4711,"alive":true,"state":"S","cpu_ns":1,)"
                                 R"("cpu_after_ns":1,"cpu_interval_ns":1000000000}})",
                                 processes.empty() ? "" : ",", 1000 + rank);
    }
    return fmt::format(
        R"({{"schema":"inquest-node-evidence-1","job":17,"step":"0","node":"n{}","node_index":{},"node_count":{},)"
        R"("nodes":"n[0-{}]","task_count":{},"reason":"stall","collected_mono_ns":{},"collected_wall_ns":{},)"
        R"("stall_ns":10000000000,"stalled_since_mono_ns":{},"step_ended":false,"tasks":[],"processes":[{}]}})",
        node, node, job.nodes(), job.nodes() - 1, job.ranks, mono_ns, wall_ns, mono_ns - 20'000'000'000,
        processes);
}

void write_file(const std::string& path, std::string_view bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_job(const Job& job, const std::string& directory) {
    const std::string flight = bench::flight_json(kFlightEntries);
    for (int rank = 0; rank < job.ranks; ++rank) {
        const std::string node = fmt::format("{}/0/n{}/", directory, rank / kRanksPerNode);
        write_file(node + "box-" + identity(rank) + ".ibb.zst", compressed(box_of(job, rank)));
        write_file(node + "flight-" + identity(rank) + ".json", flight);
        write_file(node + "stack-" + identity(rank) + ".txt",
                   "Current thread 0x00007f0000000000 (most recent call first):\n"
                   "  File \"/home/user/project/train.py\", line 84 in train_step\n"
                   "  File \"/home/user/project/train.py\", line 120 in <module>\n");
    }
    for (int node = 0; node < job.nodes(); ++node) {
        write_file(fmt::format("{}/0/n{}/log-train.txt", directory, node), log_of(node));
        write_file(fmt::format("{}/0/n{}/node.json", directory, node), node_json(job, node));
    }
}

class Watch {
 public:
    // Seconds since the last call.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> passed = now - last_;
        last_ = now;
        return passed.count();
    }

 private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int analyze(const Job& job, const std::string& path, const std::string& knowledge_directory) {
    const double cpu_before = cpu_seconds();
    Watch watch;
    const auto knowledge = knowledge::load_knowledge(knowledge_directory);
    const double loaded = watch.lap();
    const auto timeline = evidence::read_evidence({path});
    if (!knowledge || !timeline) return 1;
    const double read = watch.lap();
    const auto diagnosis =
        knowledge::diagnose(*knowledge, detect::detect_all(*timeline, *knowledge), *timeline);
    const double detected = watch.lap();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{} ranks: {:.2f} s ({:.2f} knowledge, {:.2f} read, {:.2f} diagnosed), CPU {:.2f} s, peak {} MiB: "
        "{}\n",
        job.ranks, loaded + read + detected, loaded, read, detected, cpu_seconds() - cpu_before,
        usage.ru_maxrss / 1024, diagnosis.cause);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const Job job{argc > 2 ? std::stoi(argv[2]) : 1'024};
    std::optional<testing::TemporaryDirectory> directory;
    const std::string path = argc > 3 ? argv[3] : directory.emplace().path();
    if (!std::filesystem::exists(path + "/0")) write_job(job, path);
    return analyze(job, path + "/0", argv[1]);
}
