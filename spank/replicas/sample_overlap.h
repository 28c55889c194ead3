/* Whether ranks that share a data set out among them read the same samples. Pure; no clock, no I/O. */
#ifndef INQUEST_SPANK_REPLICAS_SAMPLE_OVERLAP_H
#define INQUEST_SPANK_REPLICAS_SAMPLE_OVERLAP_H

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

/* Compares sketches of one pass with each other: by the epoch that the samplers name, else by their count.
 * Ranks whose samplers yield the whole data set, or do not say what they yield, are left alone; so is a rank
 * that reads samples several times in a pass, as one that draws with replacement does: there the same samples
 * on several ranks mean nothing. A sampler that fills up the last round repeats at most a sample per rank,
 * fewer than are needed. */
class SampleOverlap {
 public:
    void add(const Source& source, const SamplerPass& pass);

    /* True when this rank's sketch, with this piece, overlaps with what others read. */
    bool add(const Source& source, const SampleHashes& piece);

 private:
    struct Pass {
        std::unordered_map<uint64_t, uint32_t> first_reader; /* of a sample, by its hash */
        std::map<uint32_t, int64_t> shares;                  /* rank: the sampler's rank, -1 unknown */
        std::unordered_map<uint64_t, bool> is_shared;        /* also read by another rank */
    };
    struct Reader {
        uint64_t passes = 0;
        std::optional<int64_t> pass; /* the current one; absent: not shared out */
        std::vector<uint64_t> sketch;
    };
    using LoaderPass = std::pair<uint64_t, int64_t>;

    static bool is_repeating(const Reader& reader, uint64_t read);
    static void note(Pass& pass, uint32_t rank, uint64_t hash);
    static bool overlaps(const Pass& pass, const Reader& reader, uint32_t rank);
    void drop_old(uint64_t loader, int64_t newest_pass);

    std::map<std::pair<uint64_t, uint32_t>, Reader> readers_; /* by loader and rank */
    std::map<LoaderPass, Pass> passes_;
};

}  // namespace inquest::replicas

#endif
