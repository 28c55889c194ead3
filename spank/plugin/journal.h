/* Writes the step journal (spank/format/step_journal.h): <run directory>/steps/<job>.<step>. */
#ifndef INQUEST_SPANK_PLUGIN_JOURNAL_H
#define INQUEST_SPANK_PLUGIN_JOURNAL_H

#include "spank/plugin/step.h"
#include "spank/plugin/step_message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty journal, in place of one that an earlier run of a requeued job left, and reserves the room
 * for all messages of the step, so that a /run that fills up later costs nothing. 0 or a negative errno, and
 * nothing left. */
int inquest_journal_make(const char* run_directory, const struct inquest_step* step);

/* Appends one message. 0 or a negative errno. */
int inquest_journal_append(const char* run_directory, const struct inquest_step* step,
                           const struct inquest_step_packet* packet);

/* Descriptor of the journals' directory, made when missing; the caller closes it. Negative errno. */
int inquest_journal_open_directory(const char* run_directory);

void inquest_journal_remove(const char* run_directory, const struct inquest_step* step);

#ifdef __cplusplus
}
#endif

#endif
