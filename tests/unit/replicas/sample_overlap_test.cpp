#include "spank/replicas/sample_overlap.h"

#include <algorithm>
#include <random>

#include "tests/unit/catch.h"

using namespace inquest::replicas;

namespace {

constexpr int64_t kDataset = 4000;
constexpr uint32_t kRanks = 4;

uint64_t hash_of(int64_t sample) {
    uint64_t hash = static_cast<uint64_t>(sample + 1) * 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31U);
}

Source source_of(uint32_t rank) {
    return {1, 1000, rank, kRanks};
}

SamplerPass pass_of(uint32_t rank) {
    return {1, 0, kRanks, static_cast<int64_t>(rank), kDataset / kRanks, kDataset};
}

std::vector<int64_t> permutation(uint32_t seed) {
    std::vector<int64_t> samples(kDataset);
    for (int64_t at = 0; at < kDataset; at++)
        samples[static_cast<size_t>(at)] = at;
    std::mt19937 random(seed);
    std::shuffle(samples.begin(), samples.end(), random);
    return samples;
}

std::vector<int64_t> share_of(uint32_t rank, uint32_t seed) {
    std::vector<int64_t> share;
    const std::vector<int64_t> all = permutation(seed);
    for (size_t at = rank; at < all.size(); at += kRanks)
        share.push_back(all[at]);
    return share;
}

/* The sketch of what a rank has read; true when it overlaps with others'. */
bool read(SampleOverlap& overlap, uint32_t rank, const std::vector<int64_t>& samples) {
    std::vector<uint64_t> hashes;
    for (const int64_t sample : samples)
        hashes.push_back(hash_of(sample));
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    hashes.resize(std::min<size_t>(hashes.size(), 40));
    bool found = false;
    for (size_t at = 0; at < hashes.size(); at += 5) {
        SampleHashes piece{1, samples.size(), static_cast<uint32_t>(at / 5), {}};
        std::copy_n(hashes.begin() + static_cast<int64_t>(at), std::min<size_t>(5, hashes.size() - at),
                    piece.hashes.begin());
        found = overlap.add(source_of(rank), piece) || found;
    }
    return found;
}

}  // namespace

TEST_CASE("shares of one order do not overlap") {
    SampleOverlap overlap;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        overlap.add(source_of(rank), pass_of(rank));
        CHECK_FALSE(read(overlap, rank, share_of(rank, 1)));
    }
}

TEST_CASE("shares of different orders overlap") {
    for (uint32_t seed = 0; seed < 50; seed++) {
        SampleOverlap overlap;
        bool found = false;
        for (uint32_t rank = 0; rank < kRanks; rank++) {
            overlap.add(source_of(rank), pass_of(rank));
            found = read(overlap, rank, share_of(rank, seed * kRanks + rank)) || found;
        }
        CHECK(found);
    }
}

TEST_CASE("a sampler that fills up its last round does not overlap") {
    SampleOverlap overlap;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        overlap.add(source_of(rank), pass_of(rank));
        std::vector<int64_t> share = {rank, rank + 4, rank + 8, rank == 3 ? 0 : rank + 12};
        CHECK_FALSE(read(overlap, rank, share));
    }
}

TEST_CASE("ranks that all read the whole data set, or do not say what they read, are left alone") {
    SampleOverlap overlap;
    const SamplerPass whole{1, -1, -1, -1, kDataset, kDataset};
    const SamplerPass silent{1, -1, -1, -1, -1, -1};
    for (const SamplerPass& pass : {whole, silent})
        for (uint32_t rank = 0; rank < kRanks; rank++) {
            overlap.add(source_of(rank), pass);
            CHECK_FALSE(read(overlap, rank, permutation(1)));
        }
    CHECK_FALSE(read(overlap, 77, permutation(1)));
}

TEST_CASE("a share is also known by its size") {
    SampleOverlap overlap;
    const SamplerPass quarter{1, -1, -1, -1, kDataset / kRanks, kDataset};
    bool found = false;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        overlap.add(source_of(rank), quarter);
        found = read(overlap, rank, share_of(rank, rank)) || found;
    }
    CHECK(found);
}

TEST_CASE("ranks that read the same samples several times are left alone") {
    SampleOverlap overlap;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        overlap.add(source_of(rank), pass_of(rank));
        std::vector<int64_t> few;
        for (int64_t at = 0; at < 1000; at++)
            few.push_back(at % 20);
        CHECK_FALSE(read(overlap, rank, few));
        std::vector<int64_t> repeated;
        for (int64_t at = 0; at < 1000; at++)
            repeated.push_back(at % 300);
        CHECK_FALSE(read(overlap, rank, repeated));
    }
}

TEST_CASE("ranks with the same share read the same") {
    SampleOverlap overlap;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        SamplerPass pass = pass_of(rank / 2);
        pass.replicas = 2;
        overlap.add(source_of(rank), pass);
        CHECK_FALSE(read(overlap, rank, share_of(rank / 2, 1)));
    }
}

TEST_CASE("passes are compared with themselves only") {
    SampleOverlap overlap;
    for (int64_t epoch = 0; epoch < 20; epoch++)
        for (uint32_t rank = 0; rank < kRanks; rank++) {
            SamplerPass pass = pass_of(rank);
            pass.epoch = epoch;
            overlap.add(source_of(rank), pass);
            CHECK_FALSE(read(overlap, rank, share_of(rank, static_cast<uint32_t>(epoch))));
        }
}

TEST_CASE("a reader that is known goes on when there are too many") {
    SampleOverlap overlap;
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        for (const uint32_t rank : {0U, 1U}) {
            SamplerPass pass = pass_of(rank);
            pass.epoch = epoch;
            overlap.add(source_of(rank), pass);
            CHECK_FALSE(read(overlap, rank, share_of(rank, static_cast<uint32_t>(epoch))));
        }
        for (uint64_t loader = 100; loader < 66000; loader++)
            overlap.add(source_of(0), SamplerPass{loader, -1, -1, -1, -1, -1});
    }
}
