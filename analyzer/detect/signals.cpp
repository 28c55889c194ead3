#include "analyzer/detect/signals.h"

#include <csignal>
#include <cstring>

namespace inquest::detect {

std::string signal_name(int signal) {
    const char* abbreviation = sigabbrev_np(signal);
    return abbreviation == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + abbreviation;
}

std::string signal_class(int signal) {
    switch (signal) {
        case SIGSEGV:
        case SIGBUS:
        case SIGILL:
        case SIGFPE:
            return "fault";
        case SIGABRT:
            return "abort";
        case SIGKILL:
        case SIGTERM:
        case SIGHUP:
        case SIGINT:
        case SIGQUIT:
        case SIGUSR1:
        case SIGUSR2:
        case SIGXCPU:
            return "outside";
        default:
            return "other";
    }
}

}  // namespace inquest::detect
