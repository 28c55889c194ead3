/* Milliseconds per comparison of simulated ranks with 1,000 tensors each: compare_bench [DIRECTORY]
 *
 * agreeing: one digest per rank of a checkpoint, as the step workers compare while a job runs. differing: the
 * same with one rank off, and then the tensor tables of all ranks read from files and searched for the tensor
 * that is off. memcmp: the anchor, the digests of all tensors of all ranks in memory compared byte by byte
 * with those of the first rank. The directory (default /tmp) holds the tables for the time of the run. */
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "analyzer/evidence/tensor_table_reader.h"
#include "spank/format/tensor_table.h"
#include "spank/replicas/comparison.h"

namespace {

using inquest::replicas::Comparison;
using inquest::replicas::Digest;
using inquest::replicas::ReplicaRecord;
using inquest::replicas::StateDigest;
using Clock = std::chrono::steady_clock;

constexpr int kTensors = 1000;
constexpr int kRounds = 20;
constexpr int kOffTensor = 777;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

ReplicaRecord record_of(uint32_t rank, int ranks, int64_t step, uint64_t value) {
    StateDigest digest;
    digest.optimizer = 1;
    digest.step = step;
    digest.site = INQUEST_SITE_STEP;
    digest.part = INQUEST_PART_PARAMETERS;
    digest.tensors = kTensors;
    digest.promise = 1;
    digest.digest = {value, ~value};
    digest.ranks = fmt::format("0-{}", ranks - 1);
    return {{1, 1000, rank, static_cast<uint32_t>(ranks)}, digest};
}

/* One checkpoint; whether a difference was told. */
bool compare_checkpoint(Comparison& comparison, int ranks, int64_t step, bool one_is_off) {
    for (int rank = 0; rank < ranks; rank++)
        comparison.add(record_of(static_cast<uint32_t>(rank), ranks, step,
                                 one_is_off && rank == ranks - 1 ? 0 : static_cast<uint64_t>(step)));
    return comparison.take_difference().has_value();
}

std::string table_bytes(int rank, bool is_off) {
    inquest_table_header header{};
    std::memcpy(header.magic, INQUEST_TABLE_MAGIC, sizeof header.magic);
    header.version = INQUEST_TABLE_VERSION;
    header.byte_order = INQUEST_BOX_BYTE_ORDER;
    header.pid = rank + 1;
    header.start_time_ticks = 1;
    header.names = {INQUEST_TABLE_NAMES_OFFSET, INQUEST_TABLE_NAMES_MIN_BYTES, 1};
    header.entries = {INQUEST_TABLE_NAMES_OFFSET + INQUEST_TABLE_NAMES_MIN_BYTES, INQUEST_TABLE_ENTRIES_MIN,
                      INQUEST_TABLE_ENTRY_BYTES};
    header.total_bytes =
        header.entries.offset_bytes + uint64_t{header.entries.capacity} * header.entries.element_bytes;
    std::string names;
    for (int tensor = 0; tensor < kTensors; tensor++)
        names += fmt::format("1 1 {} float32 64x32 - layers.{}.weight\n", tensor, tensor);
    const inquest_table_live live{names.size(), kTensors, 0};
    std::string bytes(header.total_bytes, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + INQUEST_TABLE_LIVE_OFFSET, &live, sizeof live);
    std::memcpy(bytes.data() + INQUEST_TABLE_NAMES_OFFSET, names.data(), names.size());
    for (uint64_t tensor = 0; tensor < kTensors; tensor++) {
        inquest_table_entry entry{};
        entry.mark = tensor + 1;
        entry.digest_low = tensor * 0x9e3779b97f4a7c15U + (is_off && tensor == kOffTensor ? 1 : 0);
        entry.digest_high = ~entry.digest_low;
        std::memcpy(bytes.data() + header.entries.offset_bytes + tensor * sizeof entry, &entry, sizeof entry);
    }
    return bytes;
}

std::string file_of(const std::filesystem::path& directory, int rank) {
    return directory / fmt::format("tensors-{}-1.ibt", rank + 1);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Digest> digests_of(const std::string& path) {
    inquest::evidence::Notes notes;
    const auto table = inquest::evidence::read_tensor_table(path, read_file(path), notes);
    std::vector<Digest> digests;
    if (table)
        for (const auto& [number, entry] : table->entries)
            digests.push_back({entry.low, entry.high});
    return digests;
}

/* How many tensors of how many ranks are off the first rank's. */
int search_tables(const std::filesystem::path& directory, int ranks) {
    const std::vector<Digest> first = digests_of(file_of(directory, 0));
    if (first.size() != kTensors) std::abort();
    int off = 0;
    for (int rank = 1; rank < ranks; rank++) {
        const std::vector<Digest> digests = digests_of(file_of(directory, rank));
        for (size_t tensor = 0; tensor < first.size() && tensor < digests.size(); tensor++)
            off += digests[tensor] == first[tensor] ? 0 : 1;
    }
    return off;
}

double measure_agreeing(int ranks) {
    Comparison comparison;
    std::vector<double> times;
    for (int round = 0; round < kRounds; round++) {
        const auto begin = Clock::now();
        if (compare_checkpoint(comparison, ranks, round + 1, false)) std::abort();
        times.push_back(ms_since(begin));
    }
    return median(times);
}

double measure_differing(const std::filesystem::path& directory, int ranks) {
    std::vector<double> times;
    for (int round = 0; round < 3; round++) {
        Comparison comparison;
        const auto begin = Clock::now();
        if (!compare_checkpoint(comparison, ranks, 1, true)) std::abort();
        if (search_tables(directory, ranks) != 1) std::abort();
        times.push_back(ms_since(begin));
    }
    return median(times);
}

double measure_memcmp(int ranks) {
    std::vector<std::vector<Digest>> tables(static_cast<size_t>(ranks), std::vector<Digest>(kTensors));
    for (auto& table : tables)
        for (size_t tensor = 0; tensor < table.size(); tensor++)
            table[tensor] = {tensor, ~tensor};
    std::vector<double> times;
    for (int round = 0; round < kRounds; round++) {
        const auto begin = Clock::now();
        for (const auto& table : tables)
            if (std::memcmp(table.data(), tables.front().data(), kTensors * sizeof(Digest)) != 0)
                std::abort();
        times.push_back(ms_since(begin));
    }
    return median(times);
}

void measure(const std::filesystem::path& directory, int ranks) {
    for (int rank = 0; rank < ranks; rank++)
        std::ofstream(file_of(directory, rank), std::ios::binary) << table_bytes(rank, rank == ranks - 1);
    fmt::print("{:>5} ranks  agreeing {:8.3f} ms  differing {:8.1f} ms  memcmp {:8.3f} ms\n", ranks,
               measure_agreeing(ranks), measure_differing(directory, ranks), measure_memcmp(ranks));
}

}  // namespace

int main(int argc, char** argv) {
    const std::filesystem::path base = argc > 1 ? argv[1] : "/tmp";
    const std::filesystem::path directory = base / fmt::format("compare_bench.{}", getpid());
    std::filesystem::create_directories(directory);
    for (const int ranks : {64, 1024})
        measure(directory, ranks);
    std::filesystem::remove_all(directory);
    return 0;
}
