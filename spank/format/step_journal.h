/* The step journal: what the plugin (root, in slurmstepd) tells inquestd and the epilog about one step.
 *
 * A journal is the file /run/inquest/steps/<job>.<step> (directory 0700, file 0600, both root's): a sequence
 * of messages, each one append. The same message also goes, as one SOCK_SEQPACKET packet, to inquestd's
 * socket /run/inquest/inquestd.sock, so that the daemon need not poll. Without a daemon the epilog finds
 * everything in the journal. Only root writes it, but the texts come from the user's environment: they are
 * paths and names to be used as that user, never by root.
 *
 * Layout: struct inquest_step_message, then text_bytes bytes: INQUEST_STEP_TEXTS NUL-terminated strings in
 * the order of enum inquest_step_text (empty ones included) for STEP_START, nothing for the other kinds.
 * Integers are little endian.
 */
#ifndef INQUEST_SPANK_FORMAT_STEP_JOURNAL_H
#define INQUEST_SPANK_FORMAT_STEP_JOURNAL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INQUEST_STEP_MESSAGE_MAGIC = 0x4a515149, /* "IQQJ" */
    INQUEST_STEP_MESSAGE_VERSION = 1,
    INQUEST_STEP_MESSAGE_MAX_BYTES = 32 * 1024, /* header and texts; a longer node list is cut to nothing */
    INQUEST_STEP_TASK_NONE = -1
};

#define INQUEST_RUN_DIRECTORY "/run/inquest"
#define INQUEST_STEPS_DIRECTORY "/run/inquest/steps"
#define INQUEST_DAEMON_SOCKET "/run/inquest/inquestd.sock"

enum inquest_step_message_kind {
    INQUEST_STEP_START = 1, /* before the first task; the box directory exists */
    INQUEST_TASK_START = 2, /* task, pid */
    INQUEST_TASK_EXIT = 3,  /* task, pid, wait_status, oom_kills */
    INQUEST_STEP_END = 4,   /* every process of the step on this node is gone */
    INQUEST_JOB_END = 5     /* from the epilog, only over the socket: job_id */
};

/* Answer of inquestd to a packet, one byte, sent when what the message asks for is done: for TASK_EXIT with a
 * failure that the report directory exists (so that srun knows that a report will come), for STEP_END that
 * this node's evidence is written or not needed, for JOB_END that all of it is written and the worker is
 * gone. A sender waits for it only for a bounded time. */
enum { INQUEST_STEP_REPLY_DONE = 1, INQUEST_STEP_REPLY_REFUSED = 2 };

/* What a STEP_START asks of the step's worker. Version 1 was written with 0 here before there were flags, so
 * an absent bit is the older behaviour. */
enum inquest_step_flag {
    INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE = 1 /* --inquest-on-divergence=cancel; without it: report only */
};

enum inquest_step_text {
    INQUEST_STEP_TEXT_NODE = 0,  /* this node's Slurm name */
    INQUEST_STEP_TEXT_NODES = 1, /* all nodes of the step, Slurm's hostlist form: n[1-4] */
    INQUEST_STEP_TEXT_REPORT =
        2, /* absolute path of the report directory, <working directory>/inquest-<job> */
    INQUEST_STEP_TEXT_BOXES = 3,      /* box directory: /run/inquest/<job>.<step> */
    INQUEST_STEP_TEXT_INJECTED = 4,   /* names that inquest-launch set, comma separated */
    INQUEST_STEP_TEXT_LEFT_ALONE = 5, /* names that the user had set, comma separated */
    INQUEST_STEP_TEXTS = 6
};

struct inquest_step_message {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;        /* enum inquest_step_message_kind */
    uint32_t total_bytes; /* of header and texts */
    uint32_t text_bytes;
    uint32_t job_id;
    uint32_t step_id; /* as Slurm counts; 0xfffffffb is the batch step */
    uint32_t uid;
    uint32_t gid;
    uint32_t node_index; /* of this node within the step; 0 is the lead */
    uint32_t node_count;
    uint32_t task_count;       /* of the whole step */
    uint32_t local_task_count; /* on this node */
    uint32_t stall_seconds;
    int32_t task; /* global Slurm task number, INQUEST_STEP_TASK_NONE */
    int32_t pid;
    int32_t
        wait_status;    /* as wait(2) returns it; in STEP_END that of the first task here that failed, or 0 */
    uint32_t oom_kills; /* memory.events or memory.oom_control of the step's cgroup at that moment; 0 unknown
                           too */
    uint32_t flags;     /* bits of enum inquest_step_flag, in STEP_START; the others are 0 and reserved */
    uint64_t mono_ns;
    uint64_t wall_ns;
};

static_assert(sizeof(struct inquest_step_message) == 88, "on disk");
static_assert(offsetof(struct inquest_step_message, mono_ns) == 72, "on disk");

#endif
