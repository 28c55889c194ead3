#include "spank/launch/joined_value.h"

#include <algorithm>

#include "spank/launch/environment.h"

namespace inquest::launch {
namespace {

std::string key_of(const std::string& part) {
    return part.substr(0, part.find('='));
}

bool has_key(const std::string& value, const Setting& setting, const std::string& key) {
    auto parts = split(value, setting.separator.front());
    return std::any_of(parts.begin(), parts.end(),
                       [&](const std::string& part) { return key_of(part) == key; });
}

bool starts_with(const std::string& text, const std::string& start) {
    return text.compare(0, start.size(), start) == 0;
}

}  // namespace

std::optional<std::string> with_part(const Setting& setting, const std::optional<std::string>& users,
                                     const std::string& part) {
    /* No separator beside an empty value: in PYTHONPATH an empty entry would mean the working directory. */
    if (!users || users->empty()) {
        return part;
    }
    if (setting.how == How::kPrepend) {
        bool is_there = *users == part || starts_with(*users, part + setting.separator);
        return is_there ? *users : part + setting.separator + *users;
    }
    if (has_key(*users, setting, key_of(part))) {
        return std::nullopt;
    }
    return *users + setting.separator + part;
}

std::optional<std::string> without_part(const Setting& setting, const std::string& value,
                                        const std::string& part) {
    const std::string& separator = setting.separator;
    std::string padded = separator + value + separator;
    const std::string wanted = separator + part + separator;
    const size_t at = setting.how == How::kPrepend ? padded.find(wanted) : padded.rfind(wanted);
    if (at == std::string::npos) {
        return value;
    }
    padded.erase(at, separator.size() + part.size());
    if (padded.size() == separator.size()) {
        return std::nullopt;
    }
    return padded.substr(separator.size(), padded.size() - 2 * separator.size());
}

}  // namespace inquest::launch
