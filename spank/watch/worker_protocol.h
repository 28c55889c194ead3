/* Packets between the root core and a step worker, over a SOCK_SEQPACKET pair.
 *
 * Core to worker: RequestHeader, then the bytes of one step message. Worker to core: one WorkerReply for each
 * request. The worker is the user's: the core takes a reply only for a token that it gave to this very
 * worker.
 *
 * Besides, under the token of events: the worker asks that its step's diagnosis be put into the job's record
 * (WorkerReply), and the core says that this was tried (RequestHeader alone). */
#ifndef INQUEST_SPANK_WATCH_WORKER_PROTOCOL_H
#define INQUEST_SPANK_WATCH_WORKER_PROTOCOL_H

#include <cstddef>
#include <cstdint>

#include "spank/format/step_journal.h"

namespace inquest::watch {

struct RequestHeader {
    uint64_t token;
};

struct WorkerReply {
    uint64_t token;
    uint8_t reply; /* INQUEST_STEP_REPLY_* */
    uint8_t unused[7];
};
static_assert(sizeof(WorkerReply) == 16);

constexpr uint64_t kEventToken = 0; /* no request has it */

constexpr size_t kMaxRequestBytes = sizeof(RequestHeader) + INQUEST_STEP_MESSAGE_MAX_BYTES;

}  // namespace inquest::watch

#endif
