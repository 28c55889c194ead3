/* What changes a digest: any bit, any place, any length; and nothing else. */
#include <algorithm>
#include <cstring>
#include <set>

#include "tests/unit/catch.h"
#include "tests/unit/recorder/tensor_fixture.h"

using namespace inquest::recorder_test;

namespace {

struct Flips {
    uint64_t made = 0;  /* in an element of the tensor */
    uint64_t found = 0; /* of those */
    uint64_t beside = 0;
    uint64_t invented = 0; /* a change without one */
    uint64_t spread = 0;   /* in more than one lane although only one word changed */
};

/* Flips one bit of the memory, takes the digest, and flips it back. */
void flip_one(TensorFixture& view, uint64_t bit, bool is_used, bool is_expanded, Flips& flips) {
    const inquest_digest before = digest_of(view.tensor());
    view.memory()[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    const inquest_digest after = digest_of(view.tensor());
    view.memory()[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    const bool is_changed = before.low != after.low && before.high != after.high;
    flips.made += is_used ? 1 : 0;
    flips.beside += is_used ? 0 : 1;
    flips.found += is_used && is_changed ? 1 : 0;
    flips.invented += !is_used && !is_same(before, after) ? 1 : 0;
    flips.spread += !is_expanded && changed_lanes(before, after) > 1 ? 1 : 0;
    flips.invented += is_same(before, digest_of(view.tensor())) ? 0 : 1;
}

void flip_some(std::mt19937_64& random, ElementType type, Flips& flips) {
    TensorFixture view = random_view(random, type, 6);
    const std::vector<bool> used = view.used_bytes();
    const auto used_count = static_cast<uint64_t>(std::count(used.begin(), used.end(), true));
    const bool is_expanded = view.elements() * type.bytes > used_count;
    for (int flip = 0; flip < 10; flip++) {
        const uint64_t bit = random() % (view.memory().size() * 8);
        flip_one(view, bit, used[bit / 8], is_expanded, flips);
    }
}

std::vector<uint8_t> bytes_of_words(const std::vector<uint64_t>& words) {
    std::vector<uint8_t> bytes(words.size() * 8);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

}  // namespace

TEST_CASE("each of 20,000 single-bit flips is found and none that was not made") {
    std::mt19937_64 random(8);
    Flips flips;
    while (flips.made < 20'000) {
        for (const ElementType type : kElementTypes) {
            flip_some(random, type, flips);
        }
    }
    CHECK(flips.found == flips.made);
    CHECK(flips.beside > 1'000);
    CHECK(flips.invented == 0);
    CHECK(flips.spread == 0);
}

TEST_CASE("zeros of every length differ") {
    std::set<uint64_t> lows;
    std::set<uint64_t> highs;
    for (size_t length = 0; length < 2'000; length++) {
        const inquest_digest digest = digest_of(std::vector<uint8_t>(length));
        lows.insert(digest.low);
        highs.insert(digest.high);
    }
    CHECK(lows.size() == 2'000);
    CHECK(highs.size() == 2'000);
}

TEST_CASE("exchanged words differ, in one lane and across lanes, also when one bit tells them apart") {
    std::mt19937_64 random(9);
    for (int round = 0; round < 5'000; round++) {
        std::vector<uint64_t> words(200, round % 2 == 0 ? 0 : 0x3f8000003f800000U);
        const size_t a = random() % 200;
        const size_t b = round % 3 == 0 ? (a + 16) % 192 : random() % 200;
        words[a] ^= uint64_t{1} << random() % 64;
        const inquest_digest before = digest_of(bytes_of_words(words));
        std::swap(words[a], words[b]);
        const inquest_digest after = digest_of(bytes_of_words(words));
        REQUIRE((words[a] == words[b] || (before.low != after.low && before.high != after.high)));
    }
}

TEST_CASE("the change that one flipped bit makes to a lane is another one at every place") {
    /* Two changed words of one lane cancel when their changes add up to zero. Of 200,000 places none has the
     * change of another, nor its negative. */
    for (const uint64_t bit : {0U, 31U, 32U, 63U}) {
        std::set<uint64_t> changes;
        for (uint64_t place = 0; place < 200'000; place++) {
            const uint64_t change = inquest::recorder::mix(0, place * 16) -
                                    inquest::recorder::mix(uint64_t{1} << bit, place * 16);
            changes.insert(std::min(change, 0 - change));
        }
        CHECK(changes.size() == 200'000);
    }
}

TEST_CASE("every bit of a word turns every bit of its mixture now and then") {
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint32_t flipped[64] = {};
        for (uint64_t index = 0; index < 4'096; index++) {
            const uint64_t change = inquest::recorder::mix(index, index) ^
                                    inquest::recorder::mix(index ^ uint64_t{1} << bit, index);
            for (uint32_t out = 0; out < 64; out++) {
                flipped[out] += change >> out & 1U;
            }
        }
        for (const uint32_t count : flipped) {
            REQUIRE(count > 300);
            REQUIRE(count < 3'800);
        }
    }
}

TEST_CASE("a combination depends on every digest, its place and their number") {
    std::mt19937_64 random(10);
    std::vector<inquest_digest> digests(20);
    for (inquest_digest& digest : digests) {
        digest.low = random();
        digest.high = random();
    }
    uint64_t whole[2];
    uint64_t other[2];
    inquest_digest_combine(digests.data(), 20, whole);
    for (size_t i = 0; i + 1 < digests.size(); i++) {
        std::swap(digests[i], digests[i + 1]);
        inquest_digest_combine(digests.data(), 20, other);
        std::swap(digests[i], digests[i + 1]);
        CHECK((whole[0] != other[0] && whole[1] != other[1]));
    }
    inquest_digest_combine(digests.data(), 20, other);
    CHECK((whole[0] == other[0] && whole[1] == other[1]));
    inquest_digest_combine(digests.data(), 19, other);
    CHECK((whole[0] != other[0] && whole[1] != other[1]));
    inquest_digest_combine(nullptr, 0, other);
    CHECK(other[0] != 0);
}

TEST_CASE("digests are what they were: other devices and later versions compute the same") {
    std::vector<uint8_t> bytes(1'000);
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = static_cast<uint8_t>(i * 7 + 1);
    }
    const inquest_digest digest = digest_of(bytes);
    CHECK(digest.low == 0x20224bbb67758375U);
    CHECK(digest.high == 0x46133a6b5848abeeU);
    CHECK(digest.lane[0] == 0xb5d485b74bc642f6U);
    CHECK(digest.lane[15] == 0xcd4dcdeca53a4e2fU);
    const inquest_digest empty = digest_of(std::vector<uint8_t>());
    CHECK(empty.low == 0x3b0d055a4f887d59U);
    CHECK(empty.high == 0x4ff01525fc8c4d14U);
    inquest_digest both[] = {digest, empty};
    uint64_t pair[2];
    inquest_digest_combine(both, 2, pair);
    CHECK(pair[0] == 0x20e004e11f79f36eU);
    CHECK(pair[1] == 0xc8cf5932418dec72U);
}
