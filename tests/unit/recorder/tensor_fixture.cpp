#include "tests/unit/recorder/tensor_fixture.h"

#include <cstring>
#include <numeric>

#include "tests/unit/catch.h"

namespace inquest::recorder_test {

TensorFixture::TensorFixture(std::mt19937_64& random, ElementType type, std::vector<int64_t> sizes,
                             uint64_t misalignment_bytes)
    : type_(type), sizes_(std::move(sizes)), strides_(sizes_.size()), first_(misalignment_bytes) {
    int64_t stride = 1;
    for (size_t d = sizes_.size(); d-- > 0;) {
        strides_[d] = stride;
        stride *= sizes_[d];
    }
    memory_.resize(misalignment_bytes + static_cast<uint64_t>(stride) * type.bytes);
    for (uint8_t& byte : memory_) {
        byte = static_cast<uint8_t>(random());
    }
}

void TensorFixture::swap_dimensions(size_t a, size_t b) {
    std::swap(sizes_[a], sizes_[b]);
    std::swap(strides_[a], strides_[b]);
}

void TensorFixture::take_every(size_t dimension, int64_t step) {
    sizes_[dimension] = (sizes_[dimension] + step - 1) / step;
    strides_[dimension] *= step;
}

void TensorFixture::reverse(size_t dimension) {
    if (sizes_[dimension] > 0) {
        first_ = static_cast<uint64_t>(static_cast<int64_t>(first_) +
                                       (sizes_[dimension] - 1) * strides_[dimension] * type_.bytes);
    }
    strides_[dimension] = -strides_[dimension];
}

void TensorFixture::expand(int64_t size) {
    sizes_.insert(sizes_.begin(), size);
    strides_.insert(strides_.begin(), 0);
}

inquest_tensor TensorFixture::tensor() const {
    return {memory_.data() + first_,
            sizes_.data(),
            strides_.data(),
            static_cast<uint32_t>(sizes_.size()),
            type_.bytes,
            type_.kind};
}

uint64_t TensorFixture::elements() const {
    return static_cast<uint64_t>(
        std::accumulate(sizes_.begin(), sizes_.end(), int64_t{1}, std::multiplies<>()));
}

uint64_t TensorFixture::offset_of(uint64_t logical) const {
    auto rest = static_cast<int64_t>(logical);
    auto offset = static_cast<int64_t>(first_);
    for (size_t d = sizes_.size(); d-- > 0;) {
        offset += rest % sizes_[d] * strides_[d] * type_.bytes;
        rest /= sizes_[d];
    }
    return static_cast<uint64_t>(offset);
}

std::vector<uint8_t> TensorFixture::packed() const {
    std::vector<uint8_t> bytes(elements() * type_.bytes);
    for (uint64_t e = 0; e < elements(); e++) {
        std::memcpy(bytes.data() + e * type_.bytes, memory_.data() + offset_of(e), type_.bytes);
    }
    return bytes;
}

std::vector<bool> TensorFixture::used_bytes() const {
    std::vector<bool> used(memory_.size());
    for (uint64_t e = 0; e < elements(); e++) {
        for (uint64_t b = 0; b < type_.bytes; b++) {
            used[offset_of(e) + b] = true;
        }
    }
    return used;
}

TensorFixture random_view(std::mt19937_64& random, ElementType type, int64_t largest_size) {
    std::vector<int64_t> sizes(random() % 5);
    for (int64_t& size : sizes) {
        size = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(largest_size));
    }
    TensorFixture view(random, type, sizes, random() % 3 * 7);
    for (size_t change = 0; !sizes.empty() && change < random() % 4; change++) {
        const size_t dimension = random() % sizes.size();
        switch (random() % 3) {
            case 0:
                view.swap_dimensions(dimension, random() % sizes.size());
                break;
            case 1:
                view.take_every(dimension, 2);
                break;
            default:
                view.reverse(dimension);
        }
    }
    if (random() % 8 == 0) {
        view.expand(3);
    }
    return view;
}

namespace {

uint64_t chain(uint64_t state, uint64_t value, uint64_t factor) {
    const uint64_t x = (state ^ value) * factor;
    return x ^ (x >> 32U);
}

constexpr uint64_t kI = 0x9e3779b97f4a7c15U;
constexpr uint64_t kA = 0xbf58476d1ce4e5b9U;
constexpr uint64_t kB = 0x94d049bb133111ebU;

}  // namespace

inquest_digest described_digest(const std::vector<uint8_t>& packed) {
    inquest_digest digest = {};
    uint64_t product = 0;
    for (uint64_t i = 0; i * 8 < packed.size(); i++) {
        uint64_t word = 0;
        std::memcpy(&word, packed.data() + i * 8, std::min<size_t>(8, packed.size() - i * 8));
        const uint64_t x = chain(chain(word, (i + 1) * kI, 1), 0, kA >> 32U);
        const uint64_t mixed = chain(x, 0, kB >> 32U);
        digest.lane[i % 16] += mixed;
        product += (mixed & 0xffffffffU) * (mixed >> 32U);
    }
    digest.low = chain(kI, packed.size(), kA);
    digest.high = chain(chain(kI, packed.size(), kB), product, kB);
    for (const uint64_t lane : digest.lane) {
        digest.low = chain(digest.low, lane, kA);
        digest.high = chain(digest.high, lane, kB);
    }
    digest.low = chain(digest.low, 0, kB);
    digest.high = chain(digest.high, 0, kA);
    return digest;
}

inquest_digest digest_of(const inquest_tensor& tensor, bool with_norm) {
    inquest_digest digest;
    REQUIRE(inquest_digest_tensors(&tensor, 1, with_norm ? 1 : 0, &digest) == 0);
    return digest;
}

inquest_digest digest_of(const std::vector<uint8_t>& bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    const int64_t stride = 1;
    return digest_of({bytes.data(), &size, &stride, 1, 1, INQUEST_ELEMENT_OTHER});
}

bool is_same(const inquest_digest& a, const inquest_digest& b) {
    return a.low == b.low && a.high == b.high && changed_lanes(a, b) == 0;
}

uint32_t changed_lanes(const inquest_digest& a, const inquest_digest& b) {
    uint32_t changed = 0;
    for (uint64_t lane = 0; lane < recorder::kLanes; lane++) {
        changed += a.lane[lane] != b.lane[lane] ? 1 : 0;
    }
    return changed;
}

std::vector<const recorder::Kernel*> runnable_kernels() {
    std::vector<const recorder::Kernel*> kernels = {&recorder::portable_kernel()};
    for (const recorder::Kernel* kernel : {recorder::avx2_kernel(), recorder::avx512_kernel()}) {
        if (kernel != nullptr) {
            kernels.push_back(kernel);
        }
    }
    return kernels;
}

}  // namespace inquest::recorder_test
