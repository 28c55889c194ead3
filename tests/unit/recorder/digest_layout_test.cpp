/* The layout is no part of a digest, and shapes that make no sense are refused. */
#include <cerrno>
#include <cmath>
#include <limits>

#include "tests/unit/catch.h"
#include "tests/unit/recorder/tensor_fixture.h"

using namespace inquest::recorder_test;

namespace {

int refusal(const inquest_tensor& tensor) {
    inquest_digest digest = {};
    const int result = inquest_digest_tensors(&tensor, 1, 1, &digest);
    CHECK(digest.low == 0);
    return result;
}

}  // namespace

TEST_CASE("a view has the digest of its contiguous copy") {
    std::mt19937_64 random(3);
    for (const ElementType type : kElementTypes) {
        for (int round = 0; round < 100; round++) {
            const TensorFixture view = random_view(random, type, round < 80 ? 7 : 40);
            REQUIRE(is_same(digest_of(view.tensor()), described_digest(view.packed())));
        }
    }
}

TEST_CASE("the norm of a view is that of its contiguous copy") {
    std::mt19937_64 random(4);
    TensorFixture view(random, {2, INQUEST_ELEMENT_FLOAT16}, {50, 30, 8});
    for (uint8_t& byte : view.memory()) {
        byte &= 0x3fU; /* finite */
    }
    view.swap_dimensions(0, 1);
    view.reverse(2);
    const std::vector<uint8_t> packed = view.packed();
    const auto size = static_cast<int64_t>(view.elements());
    const int64_t stride = 1;
    const double norm = digest_of({packed.data(), &size, &stride, 1, 2, INQUEST_ELEMENT_FLOAT16}, true).norm;
    CHECK(std::isfinite(norm));
    CHECK(digest_of(view.tensor(), true).norm == norm);
}

TEST_CASE("rows longer and shorter than the buffer, dense and thinned, are put together") {
    std::mt19937_64 random(5);
    for (const int64_t width : {1, 3, 16, 31, 33, 1023, 1024, 1025, 3000}) {
        for (const int64_t step : {1, 2}) {
            TensorFixture view(random, {4, INQUEST_ELEMENT_OTHER}, {9, 2 * width});
            view.take_every(0, 2);
            view.take_every(1, step);
            REQUIRE(is_same(digest_of(view.tensor()), described_digest(view.packed())));
        }
    }
}

TEST_CASE("empty tensors and scalars have digests") {
    const int64_t sizes[] = {3, 0, 2};
    const int64_t strides[] = {0, 2, 1};
    const inquest_digest empty = digest_of({nullptr, sizes, strides, 3, 4, INQUEST_ELEMENT_FLOAT32}, true);
    CHECK(is_same(empty, described_digest({})));
    CHECK(empty.norm == 0);
    const double value = -2;
    const inquest_digest scalar = digest_of({&value, nullptr, nullptr, 0, 8, INQUEST_ELEMENT_FLOAT64}, true);
    CHECK(scalar.norm == 2);
    CHECK_FALSE(is_same(scalar, empty));
}

TEST_CASE("as many dimensions as torch allows are walked") {
    std::mt19937_64 random(6);
    TensorFixture view(random, {1, INQUEST_ELEMENT_OTHER}, std::vector<int64_t>(64, 1));
    CHECK(is_same(digest_of(view.tensor()), described_digest(view.packed())));
    TensorFixture deep(random, {1, INQUEST_ELEMENT_OTHER}, std::vector<int64_t>(12, 2));
    for (size_t d = 0; d < 6; d++) {
        deep.swap_dimensions(d, 11 - d);
    }
    CHECK(is_same(digest_of(deep.tensor()), described_digest(deep.packed())));
}

TEST_CASE("shapes that make no sense are refused and nothing is written") {
    const uint8_t memory[64] = {};
    const int64_t huge = std::numeric_limits<int64_t>::max();
    const int64_t sizes[] = {2, 2};
    const int64_t negative[] = {2, -1};
    const int64_t many[] = {huge, huge};
    const int64_t strides[] = {2, 1};
    const int64_t zeros[] = {0, 0};
    const int64_t far[] = {huge, 1};
    const uint32_t other = INQUEST_ELEMENT_OTHER;
    CHECK(refusal({memory, sizes, strides, 2, 3, other}) == -EINVAL);
    CHECK(refusal({memory, sizes, strides, 2, 0, other}) == -EINVAL);
    CHECK(refusal({memory, sizes, strides, 65, 4, other}) == -EINVAL);
    CHECK(refusal({memory, sizes, strides, 2, 4, 99}) == -EINVAL);
    CHECK(refusal({memory, sizes, strides, 2, 8, INQUEST_ELEMENT_FLOAT32}) == -EINVAL);
    CHECK(refusal({memory, negative, strides, 2, 4, other}) == -EINVAL);
    CHECK(refusal({memory, many, zeros, 2, 4, other}) == -EINVAL);
    CHECK(refusal({memory, sizes, far, 2, 4, other}) == -EINVAL);
    CHECK(refusal({memory, nullptr, strides, 2, 4, other}) == -EINVAL);
    CHECK(refusal({nullptr, sizes, strides, 2, 4, other}) == -EINVAL);
}

TEST_CASE("rows have the hash of their bytes, wherever they lie") {
    std::mt19937_64 random(7);
    TensorFixture samples(random, {4, INQUEST_ELEMENT_FLOAT32}, {6, 5, 3});
    samples.reverse(0);
    samples.swap_dimensions(1, 2);
    const inquest_tensor tensor = samples.tensor();
    uint64_t hashes[6];
    REQUIRE(inquest_digest_rows(&tensor, hashes, 6) == 0);
    const std::vector<uint8_t> packed = samples.packed();
    for (long row = 0; row < 6; row++) {
        const std::vector<uint8_t> bytes(packed.begin() + row * 60, packed.begin() + (row + 1) * 60);
        CHECK(hashes[row] == described_digest(bytes).low);
    }
    CHECK(inquest_digest_rows(&tensor, hashes, 7) == -EINVAL);
    const double scalar = 1;
    const inquest_tensor no_rows = {&scalar, nullptr, nullptr, 0, 8, INQUEST_ELEMENT_FLOAT64};
    CHECK(inquest_digest_rows(&no_rows, hashes, 1) == -EINVAL);
}
