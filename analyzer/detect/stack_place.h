// The user's line in a rank's Python stacks.
#pragma once
#include "analyzer/detect/step_view.h"

namespace inquest::detect {

// Where the rank is: its open call, else the innermost frame of the user's program in the main thread's
// stack. May be unknown.
model::Place place_or_stack(const RankView& view);

// Where the rank got its fatal signal, from the stacks that faulthandler wrote then. Unknown without them.
model::Place crash_place(const RankView& view);

}  // namespace inquest::detect
