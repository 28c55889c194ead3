/* The black box: what one process of a step remembers about itself, in a file that outlives it.
 *
 * This header is the whole format and the only thing that other parts may include from spank/. It holds no
 * code. The byte-by-byte description for people is docs/formats/black_box.md; both change together.
 *
 * A box is one preallocated file, memory-mapped by exactly one process (the writer) and read with pread by
 * any number of others at any moment, also after the writer was killed in the middle of a write. All integers
 * are little endian. Everything in a box was written by the user's process and is hostile to a reader: every
 * offset, length and identifier has to be checked before use.
 *
 *   offset       bytes                what
 *   0            4096                 header (inquest_box_header), written once before the magic
 *   4096         4096                 live counters (inquest_box_live), changed in place
 *   8192         strings.bytes        string area: append-only; a string is u32 length, bytes, NUL
 *   ...          events ring          life cycle, environment, groups, models, exceptions, exit: rare records
 *   ...          collectives ring     collectives, backward calls, steps, phases: frequent records
 *   ...          digests ring         digests of the model's state and what belongs to them: checkpoints
 *
 * Several rings, so that a long training loop never pushes out the record of how the process started. A
 * reader takes any kind from any ring. Boxes of earlier writers have no digests ring: its capacity is 0
 * there.
 */
#ifndef INQUEST_SPANK_FORMAT_BLACK_BOX_H
#define INQUEST_SPANK_FORMAT_BLACK_BOX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define INQUEST_BOX_MAGIC "INQBBOX1" /* eight bytes, no NUL; the last thing that a claim writes */

enum {
    INQUEST_BOX_VERSION = 1,
    INQUEST_BOX_BYTE_ORDER = 0x01020304,
    INQUEST_BOX_HEADER_BYTES = 4096,
    INQUEST_BOX_LIVE_OFFSET = 4096,
    INQUEST_BOX_LIVE_BYTES = 4096,
    INQUEST_BOX_STRINGS_OFFSET = 8192,
    INQUEST_BOX_STRINGS_BYTES = 128 * 1024,
    INQUEST_BOX_STRING_MAX_BYTES = 2048, /* longer strings are cut by the writer */
    INQUEST_BOX_RECORD_BYTES = 128,
    INQUEST_BOX_EVENTS_CAPACITY = 1024,
    INQUEST_BOX_COLLECTIVES_CAPACITY = 2048,
    INQUEST_BOX_DIGESTS_CAPACITY = 2048,
    INQUEST_BOX_TOTAL_BYTES =
        INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES +
        (INQUEST_BOX_EVENTS_CAPACITY + INQUEST_BOX_COLLECTIVES_CAPACITY + INQUEST_BOX_DIGESTS_CAPACITY) *
            INQUEST_BOX_RECORD_BYTES,
    INQUEST_BOX_NODE_BYTES = 64,
    INQUEST_BOX_PROGRAM_BYTES = 256,
    INQUEST_BOX_RECORD_TEXTS = 6,
    INQUEST_BOX_RECORD_NUMBERS = 8,
    INQUEST_BOX_NO_STRING = 0 /* string identifier: "absent" */
};

/* Rings by index in inquest_box_header.ring and inquest_box_live.ring_head. A box of a writer that had no
 * digests ring has zeros in its place in the header: no capacity, no ring, and nothing is wrong with that. */
enum inquest_box_ring_index {
    INQUEST_RING_EVENTS = 0,
    INQUEST_RING_COLLECTIVES = 1,
    INQUEST_RING_DIGESTS = 2,
    INQUEST_RING_COUNT = 3
};

struct inquest_box_area {
    uint64_t offset_bytes;
    uint32_t capacity;      /* records in a ring; bytes in the string area */
    uint32_t element_bytes; /* INQUEST_BOX_RECORD_BYTES for a ring; 1 for the string area */
};

/* Identity of the writer. Constant once the magic is there; a box without magic was never finished. */
struct inquest_box_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* INQUEST_BOX_BYTE_ORDER as the writer stores it */
    uint64_t total_bytes;
    uint32_t header_bytes; /* INQUEST_BOX_HEADER_BYTES */
    uint32_t live_offset_bytes;
    int32_t pid;
    int32_t parent_pid;
    uint64_t start_time_ticks; /* field 22 of /proc/PID/stat: with pid the identity of a process */
    uint32_t job_id;           /* SLURM_JOB_ID, 0 outside Slurm */
    uint32_t step_id;          /* SLURM_STEP_ID as Slurm counts it */
    int32_t task;              /* SLURM_PROCID, -1 unknown. The Slurm task, which is not always the rank */
    int32_t node_index;        /* SLURM_NODEID, -1 unknown */
    uint64_t created_mono_ns;  /* CLOCK_MONOTONIC and CLOCK_REALTIME at the same moment: */
    uint64_t created_wall_ns;  /* they map every mono_ns of this box to wall time */
    char node[INQUEST_BOX_NODE_BYTES];       /* host name, NUL terminated, cut */
    char program[INQUEST_BOX_PROGRAM_BYTES]; /* path of the program or script, NUL terminated, cut */
    struct inquest_box_area strings;
    struct inquest_box_area ring[INQUEST_RING_COUNT];
};

/* How far the life of the process has come. Only ever grows. */
enum inquest_state {
    INQUEST_STATE_CLAIMED = 1,
    INQUEST_STATE_TORCH_IMPORTED = 2,
    INQUEST_STATE_GROUP_READY = 3, /* the default process group exists: the process is a rank */
    INQUEST_STATE_MODEL_WRAPPED = 4,
    INQUEST_STATE_EXITING = 5, /* interpreter shutdown has begun */
    INQUEST_STATE_EXITED = 6   /* the last thing that the hook saw; exit_status is valid */
};

/* What the main thread is busy with, as far as the hooks can tell. */
enum inquest_phase {
    INQUEST_PHASE_NONE = 0,
    INQUEST_PHASE_SAVE = 1, /* writing a checkpoint (torch.save, torch.distributed.checkpoint, safetensors) */
    INQUEST_PHASE_LOAD = 2, /* reading one */
    INQUEST_PHASE_COMPILE = 3,
    INQUEST_PHASE_GROUP_SETUP = 4, /* inside init_process_group or new_group */
    INQUEST_PHASE_BACKWARD = 5     /* inside Tensor.backward: DDP's reducer all-reduces happen here, in C++ */
};

/* Live counters: each field is one naturally aligned atomic that one load reads whole. Relaxed order: a
 * reader sees each value at some recent moment, not all of them at the same one. */
struct inquest_box_live {
    int32_t rank;       /* global rank, -1 until known */
    int32_t world_size; /* -1 until known */
    uint32_t state;     /* enum inquest_state */
    uint32_t phase;     /* enum inquest_phase, the innermost open one */
    uint64_t phase_since_mono_ns;
    uint64_t last_progress_mono_ns; /* time of the newest record of any kind */
    uint64_t step;                  /* completed optimizer steps */
    uint64_t micro_batches;         /* backward calls since the last optimizer step */
    uint64_t backward_begun;
    uint64_t backward_ended;
    uint64_t collectives_begun; /* Python-level torch.distributed calls that block or wait */
    uint64_t collectives_ended;
    uint64_t loss_bits; /* IEEE 754 double of the newest loss that was seen, as bits */
    int32_t exit_status;
    int32_t stack_signal; /* signal number that makes the process write its Python stacks, 0 none */
    uint64_t strings_used_bytes;
    uint64_t ring_head[INQUEST_RING_COUNT]; /* records ever claimed; slot of record n is n % capacity */
    uint64_t dropped_strings;               /* the string area was full */
};

/* Record kinds. Numbers are never reused. For each kind the slots of text[] and number[] are named below; a
 * slot that is not named is 0. `ident` pairs the begin and the end of one call within the box. */
enum inquest_record_kind {
    INQUEST_KIND_STATE = 1,       /* number: state */
    INQUEST_KIND_ENVIRONMENT = 2, /* text: key, value */
    INQUEST_KIND_GROUP = 3,       /* a process group exists */
    INQUEST_KIND_MODEL = 4,       /* a model was wrapped */
    INQUEST_KIND_STEP = 5,        /* an optimizer step was completed */
    INQUEST_KIND_BACKWARD_BEGIN = 6,
    INQUEST_KIND_BACKWARD_END = 7,
    INQUEST_KIND_PHASE_BEGIN = 8,
    INQUEST_KIND_PHASE_END = 9,
    INQUEST_KIND_COLLECTIVE_BEGIN = 10,
    INQUEST_KIND_COLLECTIVE_END = 11,
    INQUEST_KIND_EXCEPTION = 12,
    INQUEST_KIND_EXIT = 13,
    /* In the digests ring, at checkpoints (enum inquest_site), except where another ring is named. `ident` is
     * the optimizer's ordinal in this process, from 1 in the order of first steps; 0: none. */
    INQUEST_KIND_DIGEST = 14,        /* one part of the state that one optimizer trains */
    INQUEST_KIND_GRADIENT_NORM = 15, /* L2 norm of the gradients as the optimizer is about to use them */
    INQUEST_KIND_RANDOM_STATE = 16,
    INQUEST_KIND_BATCH = 17,   /* a batch from a DataLoader. ident: the loader's ordinal */
    INQUEST_KIND_SAMPLES = 18, /* which samples were read in this pass, as a sketch. ident: the loader's */
    INQUEST_KIND_SAMPLER = 19, /* events ring: a pass over a sampler began. ident: the loader's ordinal */
    INQUEST_KIND_MODEL_FLAGS = 20, /* events ring: how a model was wrapped; follows its MODEL record */
    INQUEST_KIND_SCALER_SKIP = 21, /* collectives ring: GradScaler skipped an optimizer step */
    INQUEST_KIND_MODE = 22,        /* train or eval mode of the optimizer's model */
    INQUEST_KIND_CHILD_END = 23    /* events ring: a process that this one started ended other than with 0 */
};

/* When a digest was taken. */
enum inquest_site {
    INQUEST_SITE_START = 1,  /* before the first step of the optimizer: initial weights, no gradients */
    INQUEST_SITE_LOADED = 2, /* after a state was loaded */
    INQUEST_SITE_SAVE = 3,   /* before a state is saved */
    INQUEST_SITE_STEP = 4,   /* gradients: before that step; everything else: after it */
    INQUEST_SITE_END = 5     /* the process ends */
};

/* Parts of the state that one optimizer trains. */
enum inquest_part {
    INQUEST_PART_PARAMETERS = 1,
    INQUEST_PART_BUFFERS =
        2, /* of the modules that own the parameters: running statistics of normalisation only */
    INQUEST_PART_GRADIENTS = 3,
    INQUEST_PART_OPTIMIZER = 4, /* state tensors: momenta, step counts */
    INQUEST_PART_HYPERPARAMETERS =
        5 /* learning rate and the other numbers of the parameter groups; no tensors */
};

/* Slots of text[]. Every kind that has a place in the user's code keeps it in the same three slots. */
enum {
    INQUEST_TEXT_FILE = 0,     /* user's source file of the call */
    INQUEST_TEXT_FUNCTION = 1, /* user's function */
    /* INQUEST_KIND_ENVIRONMENT */
    INQUEST_TEXT_KEY = 2,
    INQUEST_TEXT_VALUE = 3,
    /* INQUEST_KIND_GROUP */
    INQUEST_TEXT_GROUP_NAME = 2,
    INQUEST_TEXT_GROUP_BACKEND = 3,
    INQUEST_TEXT_GROUP_RANKS = 4, /* global ranks: "0-3" or "0,2,5-7" */
    INQUEST_TEXT_GROUP_DESCRIPTION = 5,
    /* INQUEST_KIND_MODEL */
    INQUEST_TEXT_WRAPPER = 2, /* DistributedDataParallel, fully_shard, ... */
    INQUEST_TEXT_MODEL = 3,   /* class name of the wrapped module */
    /* INQUEST_KIND_PHASE_* */
    INQUEST_TEXT_PHASE_CALL = 2, /* the call that opened the phase: torch.save */
    /* INQUEST_KIND_COLLECTIVE_BEGIN */
    INQUEST_TEXT_OPERATION = 2,        /* Python name: all_reduce, barrier, broadcast, ... */
    INQUEST_TEXT_DTYPE = 3,            /* torch.float32 */
    INQUEST_TEXT_COLLECTIVE_GROUP = 4, /* group name, as in INQUEST_TEXT_GROUP_NAME */
    INQUEST_TEXT_SHAPE = 5,            /* "[16, 32]"; of the first tensor when there are several */
    /* INQUEST_KIND_EXCEPTION */
    INQUEST_TEXT_EXCEPTION_TYPE = 2,
    INQUEST_TEXT_EXCEPTION_MESSAGE = 3,
    INQUEST_TEXT_EXCEPTION_CALL = 4, /* the torch.distributed call that raised it, if one did */
    /* INQUEST_KIND_DIGEST */
    INQUEST_TEXT_DIGEST_RANKS = 2,     /* global ranks whose value must be, or may have to be, equal: "0-3" */
    INQUEST_TEXT_DIGEST_PROMISE = 3,   /* who promises that it is equal: DistributedDataParallel, DTensor;
                                          absent:   nobody, the ranks are those of the default group */
    INQUEST_TEXT_DIGEST_OPTIMIZER = 4, /* class name */
    /* INQUEST_KIND_SAMPLER */
    INQUEST_TEXT_SAMPLER = 2, /* class name */
    /* INQUEST_KIND_MODEL_FLAGS: INQUEST_TEXT_WRAPPER, INQUEST_TEXT_MODEL and */
    INQUEST_TEXT_MODEL_RANKS = 4 /* global ranks that hold a replica: "0-3" */
};

/* Slots of number[]. */
enum {
    INQUEST_NUMBER_LINE = 0, /* user's source line */
    /* INQUEST_KIND_STATE */
    INQUEST_NUMBER_STATE = 1,
    /* INQUEST_KIND_GROUP */
    INQUEST_NUMBER_GROUP_RANK = 1, /* this process's rank within the group, -1 not a member */
    INQUEST_NUMBER_GROUP_SIZE = 2,
    INQUEST_NUMBER_GROUP_TIMEOUT_NS = 3,
    /* INQUEST_KIND_MODEL */
    INQUEST_NUMBER_PARAMETERS = 1, /* number of parameter tensors */
    INQUEST_NUMBER_TRAINABLE = 2,
    INQUEST_NUMBER_PARAMETER_HASH = 3, /* over names, shapes and dtypes in order */
    INQUEST_NUMBER_BUFFERS = 4,
    /* INQUEST_KIND_STEP */
    INQUEST_NUMBER_STEP = 1,
    INQUEST_NUMBER_MICRO_BATCHES = 2,  /* backward calls since the step before */
    INQUEST_NUMBER_STEP_OPTIMIZER = 3, /* ordinal of the optimizer, 0 in boxes of earlier writers */
    INQUEST_NUMBER_STEP_UNSYNCED = 4,  /* bit k: gradient synchronisation was off (no_sync) in the k-th of
                                          those  backward calls; the 63rd stands for all later ones */
    INQUEST_NUMBER_STEP_WRAPPED =
        5,                        /* forward passes through the data-parallel wrapper since the step before */
    INQUEST_NUMBER_STEP_BARE = 6, /* forward passes of the wrapped module that did not come from its wrapper,
                                     in train mode and with gradients, since the step before */
    INQUEST_NUMBER_OPTIMIZER_STEP = 7, /* completed steps of this optimizer */
    /* INQUEST_KIND_BACKWARD_BEGIN */
    INQUEST_NUMBER_LOSS_BITS = 1, /* double as bits; 0 with HAS_LOSS 0 when it was not read */
    INQUEST_NUMBER_HAS_LOSS = 2,
    INQUEST_NUMBER_BACKWARD_STEP = 3,
    /* INQUEST_KIND_PHASE_* */
    INQUEST_NUMBER_PHASE = 1,
    /* INQUEST_KIND_COLLECTIVE_BEGIN */
    /* 1, 2, ... per group on this rank, Python-level calls only; sends and receives count apart from
     * collectives, because a healthy pipeline makes different numbers of them on different ranks. */
    INQUEST_NUMBER_SEQUENCE = 1,
    INQUEST_NUMBER_ELEMENTS = 2,
    INQUEST_NUMBER_CALLS_HASH = 3, /* rolling hash of this group's collectives up to and including this one */
    INQUEST_NUMBER_PEER = 4,       /* root or peer as a global rank, -1 none */
    INQUEST_NUMBER_COLLECTIVE_STEP = 5,
    INQUEST_NUMBER_ASYNC = 6, /* 1: returned a Work; its end is the end of wait() */
    /* INQUEST_KIND_EXCEPTION */
    INQUEST_NUMBER_UNCAUGHT = 1,      /* 1: it ended the process */
    INQUEST_NUMBER_IN_COLLECTIVE = 2, /* 1: raised out of a torch.distributed call or out of backward */
    /* INQUEST_KIND_EXIT */
    INQUEST_NUMBER_EXIT_STATUS = 1,
    /* DIGEST, GRADIENT_NORM, RANDOM_STATE, MODE: the steps that ident's optimizer has completed; of gradients
     * the number of the step that is about to use them, so that both belong to one checkpoint */
    INQUEST_NUMBER_CHECKPOINT_STEP = 1,
    INQUEST_NUMBER_CHECKPOINT_SITE = 2, /* enum inquest_site */
    /* INQUEST_KIND_DIGEST */
    INQUEST_NUMBER_DIGEST_PART = 3, /* enum inquest_part */
    INQUEST_NUMBER_DIGEST_LOW = 4,  /* of all tensors of the part, in order: low and high 64 bits */
    INQUEST_NUMBER_DIGEST_HIGH = 5,
    INQUEST_NUMBER_DIGEST_TENSORS = 6, /* number of tensors */
    INQUEST_NUMBER_DIGEST_TABLE = 7,   /* number of their first entry in the tensor table, -1: not there */
    /* INQUEST_KIND_GRADIENT_NORM */
    INQUEST_NUMBER_GRADIENT_NORM_BITS = 3, /* double as bits */
    /* INQUEST_KIND_RANDOM_STATE: what it is at that moment; 0: not known */
    INQUEST_NUMBER_RANDOM_TORCH_SEED = 3, /* torch.initial_seed() */
    INQUEST_NUMBER_RANDOM_TORCH = 4,      /* digests of the generators' states */
    INQUEST_NUMBER_RANDOM_PYTHON = 5,
    INQUEST_NUMBER_RANDOM_NUMPY = 6,
    INQUEST_NUMBER_RANDOM_DEVICE = 7,
    /* INQUEST_KIND_BATCH: the first 64 bits of the digest of its tensors */
    INQUEST_NUMBER_BATCH_INDEX = 1, /* in this pass, from 0 */
    INQUEST_NUMBER_BATCH_SAMPLES = 2,
    INQUEST_NUMBER_BATCH_DIGEST = 3,
    INQUEST_NUMBER_BATCH_STEP = 4, /* completed optimizer steps of the process */
    /* INQUEST_KIND_SAMPLES: the smallest distinct hashes of the samples read so far, ascending, five in a
     * record. Two ranks that read the same sample have the same hash. */
    INQUEST_NUMBER_SAMPLES_PASS =
        0, /* number of this pass over the loader, from 1, as of its SAMPLER records */
    INQUEST_NUMBER_SAMPLES_READ = 1,  /* samples of this pass that the sketch covers */
    INQUEST_NUMBER_SAMPLES_INDEX = 2, /* 0, 1, ...: of this record within the sketch */
    INQUEST_NUMBER_SAMPLES_HASH = 3,  /* five hashes from here, 0: none */
    /* INQUEST_KIND_SAMPLER; -1: the sampler has no such attribute */
    INQUEST_NUMBER_SAMPLER_SEED = 1,
    INQUEST_NUMBER_SAMPLER_EPOCH = 2,
    INQUEST_NUMBER_SAMPLER_REPLICAS = 3,
    INQUEST_NUMBER_SAMPLER_RANK = 4,
    INQUEST_NUMBER_SAMPLER_SHUFFLE = 5,
    INQUEST_NUMBER_SAMPLER_SAMPLES = 6, /* that it yields in a pass */
    INQUEST_NUMBER_SAMPLER_DATASET = 7, /* samples of the data set */
    /* INQUEST_KIND_MODEL_FLAGS */
    INQUEST_NUMBER_BROADCAST_BUFFERS = 1,
    INQUEST_NUMBER_BATCH_NORMS = 2, /* layers with running statistics that are not synchronised */
    INQUEST_NUMBER_SYNC_BATCH_NORMS = 3,
    INQUEST_NUMBER_INIT_SYNC = 4,
    INQUEST_NUMBER_COMM_HOOK = 5, /* 1: the program replaced the reduction of the gradients */
    /* INQUEST_KIND_SCALER_SKIP */
    INQUEST_NUMBER_SCALE_BITS = 2, /* double as bits; INQUEST_NUMBER_STEP is the step it would have been */
    /* INQUEST_KIND_MODE */
    INQUEST_NUMBER_MODE_TRAIN = 3,
    /* INQUEST_KIND_CHILD_END */
    INQUEST_NUMBER_CHILD_PID = 1,
    INQUEST_NUMBER_CHILD_WAIT_STATUS = 2, /* as wait(2) returns it, without the mark of a core dump */
    INQUEST_NUMBER_CHILD_WAS_TOLD = 3     /* 1: this process had sent it a signal to end */
};

enum { INQUEST_SAMPLES_PER_RECORD = 5, INQUEST_SAMPLES_RECORDS = 8 /* of a sketch: 40 hashes */ };

/* begin_mark while a record is being written: greater than the mark of any record. */
#define INQUEST_BOX_MARK_BUSY UINT64_MAX

/* One record. A writer claims record n = ring_head++ and stores begin_mark BUSY and end_mark 0, the body,
 * end_mark n + 1, begin_mark n + 1, in this order (release). A reader takes a record only when both marks
 * equal the expected n + 1; anything else is empty (both 0 and never claimed) or torn. A writer that finds
 * its slot busy or newer was overtaken by a whole turn of the ring and drops its record. */
struct inquest_box_record {
    uint64_t begin_mark;
    uint64_t mono_ns;
    uint16_t kind;      /* enum inquest_record_kind */
    uint16_t flags;     /* 0 in version 1 */
    uint32_t thread_id; /* gettid() */
    uint64_t ident;
    uint32_t text[INQUEST_BOX_RECORD_TEXTS]; /* string identifiers: offset in the string area plus 1 */
    int64_t number[INQUEST_BOX_RECORD_NUMBERS];
    uint64_t end_mark;
};

static_assert(sizeof(struct inquest_box_area) == 16, "on disk");
static_assert(sizeof(struct inquest_box_header) <= INQUEST_BOX_HEADER_BYTES, "on disk");
static_assert(offsetof(struct inquest_box_header, pid) == 32, "on disk");
static_assert(offsetof(struct inquest_box_header, node) == 80, "on disk");
static_assert(offsetof(struct inquest_box_header, strings) == 400, "on disk");
static_assert(sizeof(struct inquest_box_header) == 464, "on disk");
static_assert(sizeof(struct inquest_box_live) <= INQUEST_BOX_LIVE_BYTES, "on disk");
static_assert(offsetof(struct inquest_box_live, phase_since_mono_ns) == 16, "on disk");
static_assert(offsetof(struct inquest_box_live, ring_head) == 104, "on disk");
static_assert(sizeof(struct inquest_box_live) == 136, "on disk");
static_assert(sizeof(struct inquest_box_record) == INQUEST_BOX_RECORD_BYTES, "on disk");
static_assert(offsetof(struct inquest_box_record, text) == 32, "on disk");
static_assert(offsetof(struct inquest_box_record, number) == 56, "on disk");
static_assert(offsetof(struct inquest_box_record, end_mark) == 120, "on disk");

#endif
