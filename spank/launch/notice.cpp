#include "spank/launch/notice.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>

#include "spank/launch/notice_source.h"
#include "spank/launch/printable.h"

namespace inquest::launch {
namespace {

constexpr int kLastLookIntervalMs = 50;
constexpr int64_t kNsPerMs = 1000000;

void print(const std::string& text) {
    const char* rest = text.data();
    size_t bytes = text.size();
    while (bytes > 0) {
        ssize_t written = write(STDERR_FILENO, rest, bytes);
        if (written <= 0) {
            return;
        }
        rest += written;
        bytes -= static_cast<size_t>(written);
    }
}

/* False once srun is ending or gone. */
bool srun_lives(pid_t parent) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    return poll(&input, 1, kLookIntervalMs) == 0 && getppid() == parent;
}

int64_t wall_ns() {
    auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

void wait_for_final(const NoticeSource& source) {
    using Clock = std::chrono::steady_clock;
    auto deadline = Clock::now() + std::chrono::milliseconds(kLastWaitMs);
    int64_t end_wall_ns = wall_ns();
    while (Clock::now() < deadline) {
        auto evidence_ns = source.evidence_written_ns();
        if (!evidence_ns || is_final(source.read(), *evidence_ns, end_wall_ns, wall_ns())) {
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(kLastLookIntervalMs));
    }
}

std::optional<std::string> text_of(const NoticeSource& source) {
    auto notice = source.read();
    return notice ? std::optional(notice->text) : std::nullopt;
}

void watch(const NoticeSource& source) {
    NoticePrinter printer;
    pid_t parent = getppid();
    while (srun_lives(parent)) {
        print(printer.next(text_of(source), false));
    }
    wait_for_final(source);
    print(printer.next(text_of(source), true));
}

bool is_step_name(const std::string& step) {
    return !step.empty() &&
           std::all_of(step.begin(), step.end(), [](unsigned char byte) { return std::isalnum(byte); });
}

}  // namespace

std::string NoticePrinter::next(const std::optional<std::string>& notice, bool at_end) {
    if (!notice || notice == printed_) {
        return "";
    }
    if (notice->empty()) {
        return take_back();
    }
    if (printed_ && !at_end) {
        return "";
    }
    std::string text = (printed_ ? "inquest: updated\n" : "") + printable(*notice);
    printed_ = notice;
    return text.back() == '\n' ? text : text + "\n";
}

std::string NoticePrinter::take_back() {
    if (!printed_ || printed_->empty()) {
        return "";
    }
    printed_ = "";
    return "inquest: taken back: by all the evidence that there is now, the diagnosis above does not hold\n";
}

bool is_final(const std::optional<Notice>& notice, int64_t evidence_written_ns, int64_t end_wall_ns,
              int64_t now_wall_ns) {
    if (!notice || notice->written_ns < evidence_written_ns) {
        return false;
    }
    return notice->written_ns > end_wall_ns || now_wall_ns - end_wall_ns > kSettleMs * kNsPerMs;
}

ExitStatus run_notice(int argument_count, const char* const* arguments) {
    CLI::App app("Prints the diagnosis of a step as soon as there is one.", "inquest-notice");
    std::string report_directory;
    std::string step;
    app.add_option("--report", report_directory, "report directory")->required();
    app.add_option("--step", step, "step: a number or \"batch\"")->required();
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ExitStatus::kDone : ExitStatus::kUsage;
    }
    if (!is_step_name(step)) {
        return ExitStatus::kUsage;
    }
    watch(NoticeSource(report_directory, step));
    return ExitStatus::kDone;
}

}  // namespace inquest::launch
