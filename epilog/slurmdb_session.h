/* The conversation with slurmdbd itself. Only for a child process (record_store.h): libslurm may end the
 * caller. */
#pragma once

#include "epilog/record_store.h"

namespace inquest::epilog {

StoreOutcome store_through_slurmdbd(const RecordEntry& entry);

}  // namespace inquest::epilog
