/* Sends step messages to inquestd. One connection per message, so that a reply can only belong to its
 * message. */
#ifndef INQUEST_SPANK_PLUGIN_DAEMON_CLIENT_H
#define INQUEST_SPANK_PLUGIN_DAEMON_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sends one packet and, with wait_ms above 0, waits so long for the reply. Returns 0, -ETIMEDOUT when no
 * reply came in time (the daemon hangs), or another negative errno at once (there is none). Never blocks
 * otherwise. */
int inquest_daemon_send(const char* socket_path, const void* packet, size_t bytes, uint32_t wait_ms);

#ifdef __cplusplus
}
#endif

#endif
