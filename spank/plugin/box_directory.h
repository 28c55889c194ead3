/* The box directory of a step on this node: /run/inquest/<job>.<step>, a small tmpfs of the user's own.
 *
 * /run/inquest is root's alone (0755), so no path component here can be exchanged by a user. All steps use
 * *at() calls on verified directories and follow no symbolic link. Needs root and CAP_SYS_ADMIN for the
 * mount; whatever is missing, nothing is left behind. */
#ifndef INQUEST_SPANK_PLUGIN_BOX_DIRECTORY_H
#define INQUEST_SPANK_PLUGIN_BOX_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spank/plugin/step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INQUEST_BOX_PATH_BYTES = 128 };

/* Size of the tmpfs: 128 MiB and 4 MiB per local task, at most 1 GiB. */
uint64_t inquest_box_directory_bytes(uint32_t local_task_count);

/* Opens the existing or new directory `name` (mode `mode`) below `parent_fd`, which must be ours, a
 * directory, and not writable by others. Returns a descriptor or a negative errno. */
int inquest_open_own_directory(int parent_fd, const char* name, mode_t mode);

/* Opens `run_directory` (/run/inquest), which is made when only its last component is missing. A descriptor
 * or a negative errno. */
int inquest_open_run_directory(const char* run_directory);

/* Makes and mounts it and gives its path. What an earlier run of a requeued job left under the name is
 * replaced. 0 or a negative errno, and nothing left. */
int inquest_box_directory_make(const char* run_directory, const struct inquest_step* step,
                               char ret_path[INQUEST_BOX_PATH_BYTES]);

/* Unmounts and removes it, also when it is in use or only half there. */
void inquest_box_directory_remove(const char* path);

#ifdef __cplusplus
}
#endif

#endif
