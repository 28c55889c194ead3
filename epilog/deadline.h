/* A moment on the monotonic clock after which nothing is waited for any more. */
#pragma once

#include <algorithm>
#include <chrono>

namespace inquest::epilog {

class Deadline {
 public:
    using Clock = std::chrono::steady_clock;

    static Deadline after(std::chrono::milliseconds duration) { return Deadline(Clock::now() + duration); }

    /* The earlier one of this deadline and `duration` from now. */
    Deadline at_most(std::chrono::milliseconds duration) const {
        return Deadline(std::min(moment_, Clock::now() + duration));
    }
    /* This deadline, `reserve` earlier: what comes afterwards keeps that much time. */
    Deadline keep(std::chrono::milliseconds reserve) const { return Deadline(moment_ - reserve); }

    bool has_passed() const { return Clock::now() >= moment_; }
    /* For poll(2): 0 once it has passed. */
    int remaining_ms() const {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(moment_ - Clock::now());
        return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
    }

 private:
    explicit Deadline(Clock::time_point moment) : moment_(moment) {}
    Clock::time_point moment_;
};

}  // namespace inquest::epilog
