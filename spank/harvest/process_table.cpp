#include "spank/harvest/process_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "spank/harvest/file_access.h"

namespace inquest::harvest {
namespace {

/* Fields of /proc/PID/stat that follow the command, counted from the state, which is field 3. */
enum StatField { kState = 0, kUserTime = 11, kSystemTime = 12, kStartTime = 19, kStatFields = 20 };

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string proc_path(const std::string& proc_root, int32_t pid, const char* file) {
    return fmt::format("{}/{}/{}", proc_root, pid, file);
}

/* The next word of `text`, which loses it. */
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(word.size());
    return word;
}

/* What follows "<name>" at the beginning of a line. */
std::optional<std::string_view> find_line(std::string_view text, std::string_view name) {
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        if (line.starts_with(name)) return line.substr(name.size());
        begin = end + 1;
    }
    return std::nullopt;
}

uint64_t ticks_to_ns(uint64_t ticks) {
    static const auto ticks_per_second = static_cast<uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
    return ticks * (1000000000U / ticks_per_second);
}

}  // namespace

std::optional<ProcessStat> read_process_stat(const std::string& proc_root, int32_t pid) {
    const std::string text = read_proc_file(proc_path(proc_root, pid, "stat"));
    const size_t command_end = text.rfind(')'); /* the command may hold spaces and parentheses */
    if (command_end == std::string::npos) return std::nullopt;
    std::string_view rest = std::string_view(text).substr(command_end + 1);
    std::array<std::string_view, kStatFields> fields;
    for (std::string_view& field : fields)
        field = take_word(rest);
    const auto user = parse_number<uint64_t>(fields[kUserTime]);
    const auto system = parse_number<uint64_t>(fields[kSystemTime]);
    const auto start = parse_number<uint64_t>(fields[kStartTime]);
    if (fields[kState].size() != 1 || !user || !system || !start) return std::nullopt;
    return ProcessStat{fields[kState].front(), *start, ticks_to_ns(*user + *system)};
}

std::optional<ProcessStatus> read_process_status(const std::string& proc_root, int32_t pid) {
    const std::string text = read_proc_file(proc_path(proc_root, pid, "status"));
    auto uids = find_line(text, "Uid:");
    auto caught = find_line(text, "SigCgt:");
    if (!uids || !caught) return std::nullopt;
    const auto real = parse_number<uint32_t>(take_word(*uids));
    const auto effective = parse_number<uint32_t>(take_word(*uids));
    const auto mask = parse_number<uint64_t>(take_word(*caught), 16);
    if (!real || !effective || !mask) return std::nullopt;
    return ProcessStatus{*real, *effective, *mask};
}

std::optional<uint64_t> read_bytes_written(const std::string& proc_root, int32_t pid) {
    const std::string text = read_proc_file(proc_path(proc_root, pid, "io"));
    auto line = find_line(text, "wchar:");
    return line ? parse_number<uint64_t>(take_word(*line)) : std::nullopt;
}

std::optional<ProcessStat> find_living(const std::string& proc_root, const ProcessIdentity& identity) {
    const auto stat = read_process_stat(proc_root, identity.pid);
    if (!stat || stat->start_time_ticks != identity.start_time_ticks) return std::nullopt;
    if (stat->state == 'Z' || stat->state == 'X' || stat->state == 'x') return std::nullopt;
    return stat;
}

std::optional<ProcessIdentity> identity_from_name(std::string_view name, std::string_view prefix,
                                                  std::string_view suffix) {
    if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const size_t dash = name.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto pid = parse_number<int32_t>(name.substr(0, dash));
    const auto start = parse_number<uint64_t>(name.substr(dash + 1));
    if (!pid || !start || *pid <= 0) return std::nullopt;
    return ProcessIdentity{*pid, *start};
}

std::string identity_text(const ProcessIdentity& identity) {
    return fmt::format("{}-{}", identity.pid, identity.start_time_ticks);
}

}  // namespace inquest::harvest
