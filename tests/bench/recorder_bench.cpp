/* Nanoseconds per black box record, beside the cheapest thing that could be called a record: a 128-byte store
 * with a time stamp (rdtsc, clock_gettime), measured in the same run. Prints; judges nothing. */
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "spank/recorder/inquest.h"

namespace {

constexpr size_t kRepeats = 20000;
constexpr size_t kBatch = 16; /* calls per sample of the p99.9, so that the clock itself does not dominate */
constexpr size_t kPlainSlots = 2048;

struct PlainRecord {
    uint64_t stamp;
    uint64_t body[15];
};

std::vector<PlainRecord> plain_ring(kPlainSlots);

uint64_t mono_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t cycle_stamp() {
#ifdef __x86_64__
    return __rdtsc();
#else
    return mono_ns();
#endif
}

void plain_store(uint64_t stamp, size_t index) {
    PlainRecord& slot = plain_ring[index % kPlainSlots];
    slot.stamp = stamp;
    for (uint64_t& word : slot.body) {
        word = index;
    }
    __asm__ volatile("" ::: "memory");
}

template <typename Call>
void measure(const char* name, Call&& call) {
    std::vector<double> samples(kRepeats);
    for (size_t i = 0; i < kRepeats * kBatch / 10; i++) {
        call(i);
    }
    for (size_t i = 0; i < kRepeats; i++) {
        const uint64_t begin = mono_ns();
        for (size_t k = 0; k < kBatch; k++) {
            call(i * kBatch + k);
        }
        samples[i] = static_cast<double>(mono_ns() - begin) / kBatch;
    }
    std::sort(samples.begin(), samples.end());
    std::printf("%-44s median %7.1f ns   p99.9 %8.1f ns\n", name, samples[kRepeats / 2],
                samples[kRepeats * 999 / 1000]);
}

void write_record(size_t index) {
    const uint32_t texts[INQUEST_BOX_RECORD_TEXTS] = {1, 2, 3, 4, 5, 6};
    const int64_t numbers[INQUEST_BOX_RECORD_NUMBERS] = {1, static_cast<int64_t>(index)};
    inquest_box_write(INQUEST_RING_COLLECTIVES, INQUEST_KIND_COLLECTIVE_BEGIN, index, texts, numbers);
}

void measure_contended() {
    volatile bool stop = false;
    std::thread other([&stop] {
        for (size_t i = 0; !stop; i++) {
            write_record(i);
        }
    });
    measure("inquest_box_write, another thread writes too", write_record);
    stop = true;
    other.join();
}

}  // namespace

int main() {
    std::string directory = (std::filesystem::temp_directory_path() / "inquest-bench-XXXXXX").string();
    if (mkdtemp(directory.data()) == nullptr || inquest_box_claim(directory.c_str(), "recorder_bench") != 0) {
        std::fprintf(stderr, "recorder_bench: no box in %s\n", directory.c_str());
        return 1;
    }
    std::printf("per call; samples are means of %zu calls\n", kBatch);
    measure("plain 128-byte store, rdtsc", [](size_t i) { plain_store(cycle_stamp(), i); });
    measure("plain 128-byte store, clock_gettime", [](size_t i) { plain_store(mono_ns(), i); });
    measure("inquest_box_write", write_record);
    measure_contended();
    measure("inquest_box_intern, known text", [](size_t) { inquest_box_intern("torch.float32", 13); });
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return 0;
}
