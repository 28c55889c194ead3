/* Every kernel gives what the description says, bit for bit, the norm included. */
#include <cmath>
#include <cstring>

#include "spank/recorder/digest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/tensor_fixture.h"

using namespace inquest::recorder_test;
using inquest::recorder::digest_tensor;
using inquest::recorder::Kernel;

namespace {

uint64_t bits_of(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

void check_kernels(const TensorFixture& fixture) {
    const inquest_digest described = described_digest(fixture.packed());
    inquest_digest portable;
    digest_tensor(*runnable_kernels().front(), fixture.tensor(), true, portable);
    for (const Kernel* kernel : runnable_kernels()) {
        inquest_digest digest;
        digest_tensor(*kernel, fixture.tensor(), true, digest);
        REQUIRE(is_same(digest, described));
        REQUIRE(bits_of(digest.norm) == bits_of(portable.norm));
    }
}

/* Values of about one, so that the norm is a number and its last bits depend on the order of the additions.
 */
template <typename Value>
void fill_with_values(std::mt19937_64& random, TensorFixture& fixture) {
    std::normal_distribution<double> normal;
    for (size_t offset = 0; offset + sizeof(Value) <= fixture.memory().size(); offset += sizeof(Value)) {
        const auto value = static_cast<Value>(normal(random));
        std::memcpy(fixture.memory().data() + offset, &value, sizeof value);
    }
}

double norm_of(ElementType type, const std::vector<uint8_t>& bytes) {
    const auto size = static_cast<int64_t>(bytes.size() / type.bytes);
    const int64_t stride = 1;
    return digest_of({bytes.data(), &size, &stride, 1, type.bytes, type.kind}, true).norm;
}

template <typename Value>
std::vector<uint8_t> bytes_of(const std::vector<Value>& values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

}  // namespace

TEST_CASE("all kernels agree with the description at any length and alignment") {
    std::mt19937_64 random(1);
    CHECK(runnable_kernels().size() >= 1);
    for (const ElementType type : kElementTypes) {
        for (int round = 0; round < 60; round++) {
            const auto size = static_cast<int64_t>(random() % 5001 / type.bytes);
            check_kernels(TensorFixture(random, type, {size}, random() % 64));
        }
    }
    for (int64_t size = 0; size < 300; size++) {
        check_kernels(TensorFixture(random, kElementTypes[0], {size}));
    }
}

TEST_CASE("all kernels add the squares in the same order") {
    std::mt19937_64 random(2);
    for (int64_t size = 1; size < 12'000; size = size * 3 / 2 + 1) {
        TensorFixture doubles(random, {8, INQUEST_ELEMENT_FLOAT64}, {size});
        fill_with_values<double>(random, doubles);
        check_kernels(doubles);
        TensorFixture floats(random, {4, INQUEST_ELEMENT_FLOAT32}, {size});
        fill_with_values<float>(random, floats);
        check_kernels(floats);
    }
}

TEST_CASE("every 16-bit float has the norm of its value") {
    for (const Kernel* kernel : runnable_kernels()) {
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const uint16_t half[64] = {static_cast<uint16_t>(bits)};
            const int exponent = static_cast<int>(bits >> 10U & 0x1fU);
            const double fraction = (bits & 0x3ffU) / 1024.0;
            double value = std::ldexp(exponent == 0 ? fraction : 1 + fraction, std::max(exponent, 1) - 15);
            if (exponent == 31) {
                value = fraction == 0 ? INFINITY : NAN;
            }
            inquest::recorder::Sums sums = {};
            kernel->squares[INQUEST_ELEMENT_FLOAT16](sums, reinterpret_cast<const uint8_t*>(half), 1);
            REQUIRE((std::isnan(value) ? std::isnan(sums.square[0]) : sums.square[0] == value * value));
            const double brain = [bits] {
                const uint32_t wide = bits << 16U;
                float single = 0;
                std::memcpy(&single, &wide, sizeof single);
                return static_cast<double>(single);
            }();
            sums = {};
            kernel->squares[INQUEST_ELEMENT_BFLOAT16](sums, reinterpret_cast<const uint8_t*>(half), 1);
            REQUIRE((std::isnan(brain) ? std::isnan(sums.square[0]) : sums.square[0] == brain * brain));
        }
    }
}

TEST_CASE("the norm is the L2 norm, and one NaN when it is not a number") {
    CHECK(norm_of({8, INQUEST_ELEMENT_FLOAT64}, bytes_of<double>({3, 4})) == 5);
    CHECK(norm_of({4, INQUEST_ELEMENT_FLOAT32}, bytes_of<float>({-3, 4})) == 5);
    CHECK(norm_of({4, INQUEST_ELEMENT_FLOAT32}, bytes_of(std::vector<float>(10'000, 0.5F))) == 50);
    CHECK(norm_of({4, INQUEST_ELEMENT_FLOAT32}, {}) == 0);
    CHECK(norm_of({4, INQUEST_ELEMENT_FLOAT32}, bytes_of<float>({1, INFINITY})) == INFINITY);
    CHECK(bits_of(norm_of({8, INQUEST_ELEMENT_FLOAT64}, bytes_of<double>({1, -NAN}))) == 0x7ff8000000000000U);
    CHECK(bits_of(norm_of({4, INQUEST_ELEMENT_OTHER}, bytes_of<float>({1, 2}))) == 0x7ff8000000000000U);
}
