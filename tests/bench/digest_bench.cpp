/* How fast tensors are digested: GB/s of inquest_digest_tensors beside a plain read of the same memory (the
 * sum of its words) and XXH3 (128 bits), on one core, in the same run. Each round runs everything once;
 * printed are medians over the rounds of the speed and of its share of the plain read of the same round.
 * Prints; judges nothing. */
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "spank/recorder/digest.h"

namespace {

using inquest::recorder::Kernel;

constexpr size_t kRounds = 15;
constexpr size_t kBytesPerSample = 256U << 20U; /* small buffers are read again and again */

struct Subject {
    std::string name;
    size_t bytes;                   /* that it reads */
    std::function<uint64_t()> work; /* reads them once */
    std::vector<double> speeds;
    std::vector<double> shares;
};

uint64_t sink = 0;

/* CPU time: the machine may be shared. */
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

__attribute__((noinline)) uint64_t plain_read(const uint64_t* words, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += words[i];
    }
    return sum;
}

/* Of the rows of a square matrix of `side` floats the left halves. */
uint64_t plain_read_of_halves(const std::vector<uint64_t>& buffer, size_t side) {
    uint64_t sum = 0;
    for (size_t row = 0; row < side; row++) {
        sum += plain_read(buffer.data() + row * side / 2, side / 4);
    }
    return sum;
}

double gigabytes_per_second(const Subject& subject) {
    const size_t repeats = kBytesPerSample / subject.bytes;
    const double start = cpu_seconds();
    for (size_t i = 0; i < repeats; i++) {
        sink += subject.work();
    }
    return static_cast<double>(subject.bytes * repeats) / 1e9 / (cpu_seconds() - start);
}

class Tensor {
 public:
    Tensor(const void* data, std::vector<int64_t> sizes, std::vector<int64_t> strides, uint32_t bytes,
           uint32_t kind)
        : sizes_(std::move(sizes)), strides_(std::move(strides)) {
        tensor_ = {data, nullptr, nullptr, static_cast<uint32_t>(sizes_.size()), bytes, kind};
    }
    size_t bytes() const {
        size_t bytes = tensor_.element_bytes;
        for (const int64_t size : sizes_) {
            bytes *= static_cast<size_t>(size);
        }
        return bytes;
    }
    uint64_t digest(const Kernel& kernel, bool with_norm) {
        tensor_.sizes = sizes_.data();
        tensor_.strides = strides_.data();
        inquest_digest digest;
        inquest::recorder::digest_tensor(kernel, tensor_, with_norm, digest);
        return digest.low;
    }

 private:
    std::vector<int64_t> sizes_;
    std::vector<int64_t> strides_;
    inquest_tensor tensor_;
};

Subject digest_subject(std::string name, Tensor tensor, const Kernel& kernel, bool with_norm) {
    return {std::move(name),
            tensor.bytes(),
            [=, &kernel]() mutable { return tensor.digest(kernel, with_norm); },
            {},
            {}};
}

void add_layouts(std::vector<Subject>& subjects, const void* data, int64_t floats) {
    const Kernel& best = inquest::recorder::best_kernel();
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(floats)));
    const Tensor f32(data, {floats}, {1}, 4, INQUEST_ELEMENT_FLOAT32);
    const Tensor bf16(data, {floats * 2}, {1}, 2, INQUEST_ELEMENT_BFLOAT16);
    const Tensor f64(data, {floats / 2}, {1}, 8, INQUEST_ELEMENT_FLOAT64);
    const Tensor halves(data, {side, side / 2}, {side, 1}, 4, INQUEST_ELEMENT_FLOAT32);
    const Tensor channels(data, {floats / 64 / 9, 64, 3, 3}, {64 * 9, 1, 64 * 3, 64}, 4,
                          INQUEST_ELEMENT_FLOAT32);
    const Tensor turned(data, {side, side}, {1, side}, 4, INQUEST_ELEMENT_FLOAT32);
    subjects.push_back(digest_subject("digest float32", f32, best, false));
    subjects.push_back(digest_subject("digest float32, norm", f32, best, true));
    subjects.push_back(digest_subject("digest bfloat16, norm", bf16, best, true));
    subjects.push_back(digest_subject("digest float64, norm", f64, best, true));
    subjects.push_back(digest_subject("digest float32, left half of a matrix", halves, best, false));
    subjects.push_back(digest_subject("digest float32, channels last", channels, best, false));
    subjects.push_back(digest_subject("digest float32, channels last, norm", channels, best, true));
    subjects.push_back(digest_subject("digest float32, transposed", turned, best, false));
}

void add_kernels(std::vector<Subject>& subjects, const void* data, int64_t floats) {
    const Tensor f32(data, {floats}, {1}, 4, INQUEST_ELEMENT_FLOAT32);
    if (const Kernel* avx2 = inquest::recorder::avx2_kernel()) {
        subjects.push_back(digest_subject("digest, AVX2 kernel", f32, *avx2, false));
        subjects.push_back(digest_subject("digest, AVX2 kernel, norm", f32, *avx2, true));
    }
    const Kernel& portable = inquest::recorder::portable_kernel();
    subjects.push_back(digest_subject("digest, portable kernel", f32, portable, false));
    subjects.push_back(digest_subject("digest, portable kernel, norm", f32, portable, true));
}

void measure_buffer(const char* name, size_t bytes) {
    std::vector<uint64_t> buffer(bytes / sizeof(uint64_t));
    std::mt19937_64 random(1);
    for (uint64_t& word : buffer) {
        word = 0x3f0000003f000000U | (random() & 0x007fffff007fffffU); /* floats between 0.5 and 1 */
    }
    std::vector<Subject> subjects;
    subjects.push_back(
        {"plain read", bytes, [&] { return plain_read(buffer.data(), buffer.size()); }, {}, {}});
    const auto side = static_cast<size_t>(std::sqrt(static_cast<double>(bytes / 4)));
    subjects.push_back({"plain read, left half of a matrix",
                        bytes / 2,
                        [&] { return plain_read_of_halves(buffer, side); },
                        {},
                        {}});
    subjects.push_back({"XXH3 128", bytes, [&] { return XXH3_128bits(buffer.data(), bytes).low64; }, {}, {}});
    add_layouts(subjects, buffer.data(), static_cast<int64_t>(bytes / 4));
    add_kernels(subjects, buffer.data(), static_cast<int64_t>(bytes / 4));
    for (size_t round = 0; round < kRounds; round++) {
        for (Subject& subject : subjects) {
            subject.speeds.push_back(gigabytes_per_second(subject));
            subject.shares.push_back(subject.speeds.back() / subjects.front().speeds.back());
        }
    }
    std::printf("%s\n", name);
    for (const Subject& subject : subjects) {
        std::printf("  %-36s %7.2f GB/s  %5.1f %% of the plain read\n", subject.name.c_str(),
                    median(subject.speeds), 100 * median(subject.shares));
    }
}

/* A model of many small tensors: the cost of one. */
void measure_small_tensors() {
    constexpr size_t count = 1000;
    const std::vector<float> data(64 * count, 0.5F);
    const int64_t size = 64;
    const int64_t stride = 1;
    std::vector<inquest_tensor> tensors;
    for (size_t i = 0; i < count; i++) {
        tensors.push_back({data.data() + 64 * i, &size, &stride, 1, 4, INQUEST_ELEMENT_FLOAT32});
    }
    std::vector<inquest_digest> digests(count);
    std::vector<double> times;
    for (size_t round = 0; round < 200; round++) {
        const double start = cpu_seconds();
        inquest_digest_tensors(tensors.data(), count, 1, digests.data());
        times.push_back((cpu_seconds() - start) / count * 1e9);
        sink += digests.back().low;
    }
    std::printf("tensors of 64 float32, norm: %.0f ns each\n", median(times));
}

}  // namespace

int main() {
    measure_buffer("64 MiB", 64U << 20U);
    measure_buffer("64 KiB", 64U << 10U);
    measure_small_tensors();
    std::printf("%s\n", sink == 0 ? "" : "done");
    return 0;
}
