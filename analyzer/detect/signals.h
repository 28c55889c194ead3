// Signals by number, as Linux on x86-64 and arm64 numbers them (signal(7)).
#pragma once
#include <string>

namespace inquest::detect {

// "SIGKILL"; "signal 40" for one without a name.
std::string signal_name(int signal);

// "fault" (the processor or the kernel stopped a wrong access or instruction), "abort" (the process stopped
// itself), "outside" (somebody sent it), "other".
std::string signal_class(int signal);

}  // namespace inquest::detect
