/* What the ranks of a step report about their replicas, as passive structs: where it comes from, digests of
 * the model's state, passes over samplers and sketches of the samples that were read
 * (spank/format/black_box.h). */
#ifndef INQUEST_SPANK_REPLICAS_REPLICA_RECORD_H
#define INQUEST_SPANK_REPLICAS_REPLICA_RECORD_H

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "spank/format/black_box.h"

namespace inquest::replicas {

/* The rank that a record is from. Ranks of different worlds have nothing to do with each other, also when
 * they run in one step. */
struct Source {
    uint64_t world = 0;        /* hash of where the processes of the job meet; 0 unknown */
    uint64_t born_wall_ns = 0; /* when the process made its box: tells two processes of one rank apart */
    uint32_t rank = 0;         /* global */
    uint32_t world_size = 0;
};

struct Digest {
    uint64_t low = 0;
    uint64_t high = 0;
    /* clang-tidy 14 takes the 0 of a defaulted comparison for a pointer. */
    // NOLINTNEXTLINE(modernize-use-nullptr)
    auto operator<=>(const Digest&) const = default;
};

/* One part of the state that one optimizer trains, at one checkpoint. */
struct StateDigest {
    uint64_t optimizer = 0; /* ordinal in its process */
    int64_t step = 0;
    uint32_t site = 0;    /* enum inquest_site */
    uint32_t part = 0;    /* enum inquest_part */
    uint32_t tensors = 0; /* number of them */
    uint64_t promise = 0; /* hash of the wrapper that promises that the ranks agree; 0: nobody promises */
    uint64_t place = 0;   /* hash of the line that called the step */
    Digest digest;
    std::string ranks; /* that must, or may have to, agree: "0-3" */
};

/* A pass over a sampler began; -1: the sampler has no such attribute. */
struct SamplerPass {
    uint64_t loader = 0; /* ordinal in its process */
    int64_t epoch = -1;
    int64_t replicas = -1;
    int64_t rank = -1;
    int64_t samples = -1;
    int64_t dataset = -1;
};

/* A piece of the sketch of the samples read so far in the current pass: some of their smallest hashes. */
struct SampleHashes {
    uint64_t loader = 0;
    uint64_t read = 0;                                         /* samples in this pass so far */
    uint32_t index = 0;                                        /* of the piece; 0 begins a new sketch */
    std::array<uint64_t, INQUEST_SAMPLES_PER_RECORD> hashes{}; /* ascending, 0: none */
};

struct ReplicaRecord {
    Source source;
    std::variant<StateDigest, SamplerPass, SampleHashes> what;
};

}  // namespace inquest::replicas

#endif
