/* inquest-notice beside srun: it prints the diagnosis of the step as soon as there is one.
 *
 * Its standard input is a socket whose other end srun holds: when srun dies, in whatever way, it reads the
 * end of file and ends. One per process. Not thread-safe. */
#ifndef INQUEST_SPANK_PLUGIN_NOTICE_CLIENT_H
#define INQUEST_SPANK_PLUGIN_NOTICE_CLIENT_H

#ifdef __cplusplus
extern "C" {
#endif

enum { INQUEST_NOTICE_LIMIT_MS = 5000 };

/* Starts it; what cannot be started is not there, silently. */
void inquest_notice_start(const char* notice_path, const char* report_directory, const char* step_name);

/* Tells it that the step is over and waits until it has printed what there is, at most
 * INQUEST_NOTICE_LIMIT_MS. For a healthy step it ends at once. Does nothing in a fork of the process that
 * started it, and when called again. */
void inquest_notice_finish(void);

#ifdef __cplusplus
}
#endif

#endif
