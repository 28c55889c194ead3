/* The answer of inquest-launch: NAME=VALUE records, each ended by NUL.
 *
 * All or nothing: an answer is used only when every record is well formed and the last one is INQUEST_ARMED=1
 * or INQUEST_DISARMED=reason, so that a cut answer has no effect. */
#ifndef INQUEST_SPANK_PLUGIN_ENVIRONMENT_RECORDS_H
#define INQUEST_SPANK_PLUGIN_ENVIRONMENT_RECORDS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { INQUEST_RECORDS_MAX_BYTES = 64 * 1024 };

enum inquest_answer { INQUEST_ANSWER_BROKEN = 0, INQUEST_ANSWER_ARMED, INQUEST_ANSWER_DISARMED };

struct inquest_records {
    char bytes[INQUEST_RECORDS_MAX_BYTES];
    size_t used_bytes;
};

/* Checks the records and, unless broken, ends each name by NUL in place of its '='. Call it once. */
enum inquest_answer inquest_records_check(struct inquest_records* records);

/* Next record of checked records; *position starts at 0. Returns 0 after the last one. The strings live in
 * `records`. */
int inquest_records_next(const struct inquest_records* records, size_t* position, const char** ret_name,
                         const char** ret_value);

#ifdef __cplusplus
}
#endif

#endif
