/* Whether the step has been diagnosed for good, as far as a worker may know: it reads one field and names no
 * cause. */
#ifndef INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H
#define INQUEST_SPANK_WATCH_DIAGNOSIS_STATE_H

#include "spank/harvest/step_description.h"

namespace inquest::watch {

/* True when diagnosis.json of the report directory is about this step and says that it hangs, crashed or
 * exited (field "end" of configs/schemas/diagnosis.schema.json). A step that is slow, healthy or unknown may
 * turn out otherwise. */
bool is_diagnosed_for_good(const harvest::StepDescription& step);

}  // namespace inquest::watch

#endif
