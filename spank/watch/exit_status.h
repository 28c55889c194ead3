/* Exit statuses of inquestd, as its manual page lists them. */
#ifndef INQUEST_SPANK_WATCH_EXIT_STATUS_H
#define INQUEST_SPANK_WATCH_EXIT_STATUS_H

namespace inquest::watch {

enum class ExitStatus {
    ok = 0,
    internal_error = 1,
    usage = 2,
    cannot_listen = 3, /* the run directory or the socket: not root, wrong owner, another inquestd runs */
    privileges = 4     /* a step worker could not become its user */
};

}  // namespace inquest::watch

#endif
