/* The step journals that exist when inquestd starts: steps that began before it. */
#ifndef INQUEST_SPANK_WATCH_JOURNALS_H
#define INQUEST_SPANK_WATCH_JOURNALS_H

#include <sys/types.h>

#include <string>
#include <vector>

#include "spank/harvest/step_messages.h"

namespace inquest::watch {

/* The readable journals in a directory, which like them has to belong to `owner` alone; at most `limit`. */
std::vector<harvest::JournalContent> read_journals(const std::string& steps_directory, uid_t owner,
                                                   size_t limit);

}  // namespace inquest::watch

#endif
