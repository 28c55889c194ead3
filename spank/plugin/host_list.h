/* Slurm's host lists (n[1-4,7],gpu3), as far as the plugin may read one that a user wrote. */
#ifndef INQUEST_SPANK_PLUGIN_HOST_LIST_H
#define INQUEST_SPANK_PLUGIN_HOST_LIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether expanding the list is harmless. libslurm expands an item with two brackets into every combination
 * in memory (22.05: src/common/hostlist.c), 3 GB for a[0-60000]b[0-60000]: such an item, or a character that
 * no host name has, is refused. */
int inquest_host_list_is_plain(const char* list);

/* Name number `index` of a plain list; "" when it is not plain, has no such name, or the name does not fit.
 * Allocates (libslurm); not for signal handlers. */
void inquest_host_list_name(const char* list, uint32_t index, char* ret_name, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
