#include "live.h"

#include <errno.h>

#include "inquest.h"
#include "mapping.h"

/* The format's counters are plain integers, so that readers need no C11 atomics: the builtins make each
 * access whole. */
#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define ADD(field, value) __atomic_fetch_add(&(field), (value), __ATOMIC_RELAXED)

/* Only the main thread touches these. */
static uint32_t open_phases[INQUEST_LIVE_PHASE_DEPTH];
static uint32_t open_phase_count;

void inquest_live_reset(void) {
    open_phase_count = 0;
}

void inquest_live_init(struct inquest_box_live* live) {
    live->rank = -1;
    live->world_size = -1;
}

static void show_phase(struct inquest_box_live* live, uint64_t mono_ns) {
    uint32_t depth =
        open_phase_count < INQUEST_LIVE_PHASE_DEPTH ? open_phase_count : INQUEST_LIVE_PHASE_DEPTH;
    STORE(live->phase, depth == 0 ? (uint32_t)INQUEST_PHASE_NONE : open_phases[depth - 1]);
    STORE(live->phase_since_mono_ns, mono_ns);
}

static int is_main_thread(const struct inquest_box_live* live, uint32_t thread_id) {
    const uint8_t* base = (const uint8_t*)live - INQUEST_BOX_LIVE_OFFSET;
    return (uint32_t)((const struct inquest_box_header*)(const void*)base)->pid == thread_id;
}

static void open_phase(struct inquest_box_live* live, const struct inquest_box_record* record,
                       uint32_t phase) {
    if (!is_main_thread(live, record->thread_id)) {
        return;
    }
    if (open_phase_count < INQUEST_LIVE_PHASE_DEPTH) {
        open_phases[open_phase_count] = phase;
    }
    open_phase_count++;
    show_phase(live, record->mono_ns);
}

static void close_phase(struct inquest_box_live* live, const struct inquest_box_record* record) {
    if (!is_main_thread(live, record->thread_id) || open_phase_count == 0) {
        return;
    }
    open_phase_count--;
    show_phase(live, record->mono_ns);
}

static void raise_state(struct inquest_box_live* live, uint32_t state) {
    uint32_t seen = LOAD(live->state);
    while (seen < state &&
           !__atomic_compare_exchange_n(&live->state, &seen, state, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void begin_backward(struct inquest_box_live* live, const struct inquest_box_record* record) {
    ADD(live->backward_begun, 1);
    ADD(live->micro_batches, 1);
    if (record->number[INQUEST_NUMBER_HAS_LOSS] != 0) {
        STORE(live->loss_bits, (uint64_t)record->number[INQUEST_NUMBER_LOSS_BITS]);
    }
    open_phase(live, record, INQUEST_PHASE_BACKWARD);
}

static void end_step(struct inquest_box_live* live) {
    ADD(live->step, 1);
    STORE(live->micro_batches, 0);
}

void inquest_live_apply(struct inquest_box_live* live, const struct inquest_box_record* record) {
    STORE(live->last_progress_mono_ns, record->mono_ns);
    switch (record->kind) {
        case INQUEST_KIND_COLLECTIVE_BEGIN:
            ADD(live->collectives_begun, 1);
            break;
        case INQUEST_KIND_COLLECTIVE_END:
            ADD(live->collectives_ended, 1);
            break;
        case INQUEST_KIND_BACKWARD_BEGIN:
            begin_backward(live, record);
            break;
        case INQUEST_KIND_BACKWARD_END:
            ADD(live->backward_ended, 1);
            close_phase(live, record);
            break;
        case INQUEST_KIND_PHASE_BEGIN:
            open_phase(live, record, (uint32_t)record->number[INQUEST_NUMBER_PHASE]);
            break;
        case INQUEST_KIND_PHASE_END:
            close_phase(live, record);
            break;
        case INQUEST_KIND_STEP:
            end_step(live);
            break;
        case INQUEST_KIND_STATE:
            raise_state(live, (uint32_t)record->number[INQUEST_NUMBER_STATE]);
            break;
        case INQUEST_KIND_EXIT:
            STORE(live->exit_status, (int32_t)record->number[INQUEST_NUMBER_EXIT_STATUS]);
            raise_state(live, INQUEST_STATE_EXITED);
            break;
        default:
            break;
    }
}

int inquest_box_set_rank(int32_t rank, int32_t world_size) {
    uint8_t* base = inquest_mapping();
    if (base == NULL) {
        return -ENODEV;
    }
    STORE(inquest_live_of(base)->world_size, world_size);
    STORE(inquest_live_of(base)->rank, rank);
    return 0;
}

int inquest_box_set_stack_signal(int32_t signal_number) {
    uint8_t* base = inquest_mapping();
    if (base == NULL) {
        return -ENODEV;
    }
    STORE(inquest_live_of(base)->stack_signal, signal_number);
    return 0;
}
