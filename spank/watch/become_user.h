/* The way of a step worker from root to the user whose step it watches. */
#ifndef INQUEST_SPANK_WATCH_BECOME_USER_H
#define INQUEST_SPANK_WATCH_BECOME_USER_H

#include <sys/types.h>

namespace inquest::watch {

/* Gives up everything that the process inherited: all descriptors but the channel, which becomes descriptor
 * 3, environment, signal mask, session, working directory, core dumps, memory beyond the limit, and all
 * privileges. It then is the user, with the user's groups, and cannot go back. False when any of it failed:
 * the process has to end at once. Without privileges it can only stay who it is. Looks the user up in the
 * passwd and group databases, which may block; its parent does not wait for it. */
bool become_user(uid_t uid, gid_t gid, int channel_fd);

constexpr int kWorkerChannelFd = 3;

}  // namespace inquest::watch

#endif
