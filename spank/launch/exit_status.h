/* Exit status of inquest-launch and inquest-notice. */
#pragma once

namespace inquest::launch {

enum class ExitStatus { kDone = 0, kFailed = 1, kUsage = 2 };

}  // namespace inquest::launch
