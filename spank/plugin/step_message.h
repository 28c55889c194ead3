/* Builds the messages of spank/format/step_journal.h. */
#ifndef INQUEST_SPANK_PLUGIN_STEP_MESSAGE_H
#define INQUEST_SPANK_PLUGIN_STEP_MESSAGE_H

#include <stddef.h>

#include "spank/format/step_journal.h"
#include "spank/plugin/step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inquest_step_packet {
    struct inquest_step_message head;
    char texts[INQUEST_STEP_MESSAGE_MAX_BYTES - sizeof(struct inquest_step_message)];
};

/* A message of this kind about this step, now, without task and texts. */
void inquest_step_packet_begin(struct inquest_step_packet* packet, enum inquest_step_message_kind kind,
                               const struct inquest_step* step);

/* Adds the texts of STEP_START. A node list that does not fit is left empty. 0, or -E2BIG when the others do
 * not fit. */
int inquest_step_packet_add_texts(struct inquest_step_packet* packet,
                                  const char* const texts[INQUEST_STEP_TEXTS]);

#ifdef __cplusplus
}
#endif

#endif
