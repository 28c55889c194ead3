#include "spank/plugin/step_message.h"

#include <errno.h>
#include <string.h>

#include "spank/plugin/clocks.h"

void inquest_step_packet_begin(struct inquest_step_packet* packet, enum inquest_step_message_kind kind,
                               const struct inquest_step* step) {
    packet->head = (struct inquest_step_message){.magic = INQUEST_STEP_MESSAGE_MAGIC,
                                                 .version = INQUEST_STEP_MESSAGE_VERSION,
                                                 .kind = (uint16_t)kind,
                                                 .total_bytes = sizeof packet->head,
                                                 .job_id = step->job_id,
                                                 .step_id = step->step_id,
                                                 .uid = step->uid,
                                                 .gid = step->gid,
                                                 .node_index = step->node_index,
                                                 .node_count = step->node_count,
                                                 .task_count = step->task_count,
                                                 .local_task_count = step->local_task_count,
                                                 .task = INQUEST_STEP_TASK_NONE,
                                                 .mono_ns = inquest_mono_ns(),
                                                 .wall_ns = inquest_wall_ns()};
}

static size_t texts_bytes(const char* const texts[INQUEST_STEP_TEXTS]) {
    size_t bytes = 0;
    for (int index = 0; index < INQUEST_STEP_TEXTS; ++index) {
        bytes += strlen(texts[index]) + 1;
    }
    return bytes;
}

int inquest_step_packet_add_texts(struct inquest_step_packet* packet,
                                  const char* const texts[INQUEST_STEP_TEXTS]) {
    const char* fitting[INQUEST_STEP_TEXTS];
    memcpy(fitting, texts, sizeof fitting);
    if (texts_bytes(fitting) > sizeof packet->texts) {
        fitting[INQUEST_STEP_TEXT_NODES] = "";
    }
    if (texts_bytes(fitting) > sizeof packet->texts) {
        return -E2BIG;
    }
    size_t used = 0;
    for (int index = 0; index < INQUEST_STEP_TEXTS; ++index) {
        size_t bytes = strlen(fitting[index]) + 1;
        memcpy(packet->texts + used, fitting[index], bytes);
        used += bytes;
    }
    packet->head.text_bytes = (uint32_t)used;
    packet->head.total_bytes = (uint32_t)(sizeof packet->head + used);
    return 0;
}
