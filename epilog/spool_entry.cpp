#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "epilog/record_line.h"
#include "epilog/spool.h"

namespace inquest::epilog {
namespace {

constexpr std::string_view kFirstLine = "inquest-spool-1";
constexpr std::size_t kMaxClusterBytes = 64;

std::string_view field_name(RecordField field) {
    switch (field) {
        case RecordField::kSystemComment:
            return "system";
        case RecordField::kComment:
            return "comment";
        case RecordField::kAdminComment:
            break;
    }
    return "admin";
}

/* Takes the text up to the next line break off `rest`. */
std::string_view take_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return line;
}

/* "key value": the value, empty when the key is another one. */
std::string_view take_value(std::string_view& rest, std::string_view key) {
    const std::string_view line = take_line(rest);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') return {};
    return line.substr(key.size() + 1);
}

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return !text.empty() && error == std::errc{} && stop == end;
}

bool is_cluster(std::string_view text) {
    return !text.empty() && text.size() <= kMaxClusterBytes && text.front() != '.' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '-' || c == '.';
           });
}

bool is_record_line(std::string_view text) {
    return text.starts_with(kRecordLinePrefix) && text.size() <= kMaxRecordLineBytes &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return c >= ' ' && c <= '~' && std::string_view("'\"|\\").find(c) == std::string_view::npos;
           });
}

bool is_entry(const RecordEntry& entry) {
    return is_cluster(entry.cluster) && entry.job_id != 0 && is_record_line(entry.line);
}

}  // namespace

bool parse_field(const std::string& text, RecordField& field) {
    for (const RecordField known :
         {RecordField::kAdminComment, RecordField::kSystemComment, RecordField::kComment}) {
        if (text != field_name(known)) continue;
        field = known;
        return true;
    }
    return false;
}

std::string format_entry(const RecordEntry& entry) {
    if (!is_entry(entry)) return {};
    return fmt::format("{}\ncluster {}\njob {}\nfield {}\nrun {}\nreplaces {}\nline {}\n", kFirstLine,
                       entry.cluster, entry.job_id, field_name(entry.field), entry.run_wall_s,
                       entry.replaces_own ? 1 : 0, entry.line);
}

bool parse_entry(const std::string& text, RecordEntry& entry) {
    std::string_view rest = text;
    if (take_line(rest) != kFirstLine) return false;
    entry.cluster = take_value(rest, "cluster");
    bool valid = parse_number(take_value(rest, "job"), entry.job_id);
    valid = parse_field(std::string(take_value(rest, "field")), entry.field) && valid;
    valid = parse_number(take_value(rest, "run"), entry.run_wall_s) && valid;
    const std::string_view replaces = take_value(rest, "replaces");
    entry.replaces_own = replaces == "1";
    entry.line = take_value(rest, "line");
    if (const auto name = named_report(entry.line); !name.empty()) entry.report_names = {std::string(name)};
    return valid && (entry.replaces_own || replaces == "0") && rest.empty() && text.ends_with('\n') &&
           is_entry(entry);
}

}  // namespace inquest::epilog
