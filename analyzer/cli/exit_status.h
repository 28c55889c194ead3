// What `inquest` returns to its caller. Documented in docs/man/inquest.1.md; numbers never change.
#pragma once

namespace inquest::cli {

enum class ExitStatus : int {
    kHealthy = 0,  // also: the command did what it was asked
    kDiagnosed = 10,
    kUnknown = 11,  // something failed and the evidence does not decide what
    kUsage = 2,
    kNothingReadable = 3
};

}  // namespace inquest::cli
