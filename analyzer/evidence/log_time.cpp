#include "analyzer/evidence/log_time.h"

#include <array>
#include <chrono>
#include <cstdlib>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

using model::LogClock;
using model::WallNs;

constexpr size_t kHeadBytes = 160;
constexpr int kYearUnknown = 1972;
constexpr int64_t kNsPerSecond = 1'000'000'000;

// Reads fixed-width numbers and separators from the left; remembers whether all of them were there.
class Scanner {
 public:
    explicit Scanner(std::string_view text) : text_(text) {}

    int number(size_t width) {
        int value = 0;
        for (size_t i = 0; i < width; ++i, ++at_) {
            if (at_ >= text_.size() || !is_digit(text_[at_])) {
                good_ = false;
                return 0;
            }
            value = value * 10 + (text_[at_] - '0');
        }
        return value;
    }
    char one_of(std::string_view choices) {
        const char c = peek();
        if (c == '\0' || choices.find(c) == std::string_view::npos) {
            good_ = false;
            return '\0';
        }
        ++at_;
        return c;
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool digit_next() const { return is_digit(peek()); }
    bool good() const { return good_; }

 private:
    std::string_view text_;
    size_t at_ = 0;
    bool good_ = true;
};

struct Civil {
    int year = kYearUnknown;
    int month = 0;
    int day = 0;
    int64_t ns_of_day = 0;
};

std::optional<WallNs> wall_of(const Civil& civil) {
    const std::chrono::year_month_day date{std::chrono::year(civil.year),
                                           std::chrono::month(static_cast<unsigned>(civil.month)),
                                           std::chrono::day(static_cast<unsigned>(civil.day))};
    if (!date.ok() || civil.year < 1970 || civil.year > 2200) return std::nullopt;
    const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return days * 86'400 * kNsPerSecond + civil.ns_of_day;
}

// ".510593654", ",140" or nothing.
int64_t scan_fraction_ns(Scanner& scanner) {
    if (scanner.peek() != '.' && scanner.peek() != ',') return 0;
    scanner.one_of(".,");
    int64_t ns = 0;
    int64_t unit = kNsPerSecond;
    while (scanner.digit_next()) {
        unit /= 10;
        ns += scanner.number(1) * unit;
    }
    return ns;
}

void scan_time_of_day(Scanner& scanner, Civil& civil, bool& in_range) {
    const int hour = scanner.number(2);
    scanner.one_of(":");
    const int minute = scanner.number(2);
    scanner.one_of(":");
    const int second = scanner.number(2);
    in_range = hour < 24 && minute < 60 && second <= 60;
    civil.ns_of_day = ((hour * 60 + minute) * int64_t{60} + second) * kNsPerSecond;
    if (scanner.good()) civil.ns_of_day += scan_fraction_ns(scanner);
}

// "Z", "+02:00", "-0500"; nullopt: no zone, the time is local.
std::optional<int64_t> scan_zone_offset_ns(Scanner& scanner) {
    const char sign = scanner.peek();
    if (sign == 'Z') return 0;
    if (sign != '+' && sign != '-') return std::nullopt;
    scanner.one_of("+-");
    const int hours = scanner.number(2);
    if (scanner.peek() == ':') scanner.one_of(":");
    const int minutes = scanner.number(2);
    if (!scanner.good() || hours > 14 || minutes > 59) return std::nullopt;
    const int64_t offset = (int64_t{hours} * 60 + minutes) * 60 * kNsPerSecond;
    return sign == '-' ? -offset : offset;
}

std::optional<LogTime> parse_iso(std::string_view text) {
    Scanner scanner(text);
    Civil civil;
    bool in_range = false;
    civil.year = scanner.number(4);
    const char separator = scanner.one_of("-/");
    civil.month = scanner.number(2);
    scanner.one_of(std::string_view(&separator, 1));
    civil.day = scanner.number(2);
    scanner.one_of("T ");
    scan_time_of_day(scanner, civil, in_range);
    if (!scanner.good() || !in_range) return std::nullopt;
    const auto wall = wall_of(civil);
    if (!wall) return std::nullopt;
    const auto offset_ns = scan_zone_offset_ns(scanner);
    return LogTime{*wall - offset_ns.value_or(0), offset_ns ? LogClock::kUtc : LogClock::kLocal};
}

// After the severity letter: MMDD or MDD, or YYYYMMDD; then " hh:mm:ss.fraction".
std::optional<LogTime> parse_glog(std::string_view text) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits != 3 && digits != 4 && digits != 8) return std::nullopt;
    Scanner scanner(text);
    Civil civil;
    bool in_range = false;
    if (digits == 8) civil.year = scanner.number(4);
    civil.month = scanner.number(digits == 3 ? 1 : 2);
    civil.day = scanner.number(2);
    scanner.one_of(" ");
    scan_time_of_day(scanner, civil, in_range);
    const auto wall = scanner.good() && in_range ? wall_of(civil) : std::nullopt;
    if (!wall) return std::nullopt;
    return LogTime{*wall, digits == 8 ? LogClock::kLocal : LogClock::kLocalWithoutYear};
}

std::optional<LogTime> parse_syslog(std::string_view text) {
    static constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    Civil civil;
    for (size_t i = 0; i < kMonths.size(); ++i) {
        if (starts_with(text, kMonths[i])) civil.month = static_cast<int>(i) + 1;
    }
    if (civil.month == 0 || text.size() < 15) return std::nullopt;
    Scanner scanner(text.substr(3));
    bool in_range = false;
    scanner.one_of(" ");
    if (scanner.peek() == ' ') scanner.one_of(" ");
    civil.day = scanner.number(text[4] == ' ' ? 1 : 2);
    scanner.one_of(" ");
    scan_time_of_day(scanner, civil, in_range);
    const auto wall = scanner.good() && in_range ? wall_of(civil) : std::nullopt;
    if (!wall) return std::nullopt;
    return LogTime{*wall, LogClock::kLocalWithoutYear};
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::optional<LogTime> parse_at(std::string_view text) {
    constexpr size_t kShortestStamp = 13;  // "E26 04:01:29."
    if (text.size() < kShortestStamp) return std::nullopt;
    if (is_digit(text[0])) return text[4] == '-' || text[4] == '/' ? parse_iso(text) : std::nullopt;
    if (!is_digit(text[1])) return text[3] == ' ' ? parse_syslog(text) : std::nullopt;
    return std::string_view("EWIFD").find(text[0]) == std::string_view::npos ? std::nullopt
                                                                             : parse_glog(text.substr(1));
}

WallNs in_year(WallNs wall_ns, int year) {
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::nanoseconds(wall_ns));
    const std::chrono::year_month_day date{std::chrono::sys_days(days)};
    Civil civil;
    civil.year = year;
    civil.month = static_cast<int>(static_cast<unsigned>(date.month()));
    civil.day = static_cast<int>(static_cast<unsigned>(date.day()));
    civil.ns_of_day = wall_ns - std::chrono::nanoseconds(days).count();
    return wall_of(civil).value_or(wall_ns);
}

WallNs closest_year(WallNs wall_ns, WallNs reference_wall_ns) {
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::nanoseconds(reference_wall_ns));
    const int year = static_cast<int>(std::chrono::year_month_day{std::chrono::sys_days(days)}.year());
    WallNs best = wall_ns;
    for (const int candidate : {year - 1, year, year + 1}) {
        const WallNs moved = in_year(wall_ns, candidate);
        if (std::abs(moved - reference_wall_ns) < std::abs(best - reference_wall_ns)) best = moved;
    }
    return best;
}

}  // namespace

std::optional<LogTime> find_log_time(std::string_view line) {
    const std::string_view head = line.substr(0, kHeadBytes);
    for (size_t at = 0; at < head.size(); ++at) {
        if (at > 0 && is_word(head[at - 1])) continue;
        if (!is_word(head[at])) continue;
        if (auto time = parse_at(line.substr(at))) return time;
    }
    return std::nullopt;
}

void resolve_years(model::LogFile& log, model::WallNs reference_wall_ns) {
    WallNs reference = reference_wall_ns;
    for (const model::LogLine& line : log.lines) {
        if (!line.wall_ns || line.clock == LogClock::kLocalWithoutYear) continue;
        reference = *line.wall_ns;
        break;
    }
    if (reference == 0) return;
    for (model::LogLine& line : log.lines) {
        if (!line.wall_ns) continue;
        if (line.clock == LogClock::kLocalWithoutYear) line.wall_ns = closest_year(*line.wall_ns, reference);
        reference = *line.wall_ns;
    }
}

}  // namespace inquest::evidence
