#include <algorithm>
#include <array>

#include "analyzer/report/sanitize.h"

namespace inquest::report {

namespace {

constexpr std::string_view kHidden = "[redacted]";
constexpr size_t kLookBytes = 256;  // what a decision looks at; keeps the time linear

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_letter(char c) {
    return lower(c) >= 'a' && lower(c) <= 'z';
}
bool is_name_char(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}
bool is_token_char(char c) {
    return is_name_char(c) || c == '.' || c == '/' || c == '+' || c == '=';
}

bool ends_with_name(std::string_view name, std::string_view lower_suffix) {
    if (name.size() < lower_suffix.size()) return false;
    const std::string_view end = name.substr(name.size() - lower_suffix.size());
    return std::equal(end.begin(), end.end(), lower_suffix.begin(), [](char a, char b) {
        const char folded = a == '-' ? '_' : lower(a);
        return folded == b;
    });
}

// Names whose values are always secret.
bool is_secret_name(std::string_view name) {
    static constexpr std::array<std::string_view, 13> kSuffixes = {
        "password",    "passwd",       "passphrase",    "secret",     "secret_key", "api_key",   "apikey",
        "private_key", "access_token", "refresh_token", "auth_token", "api_token",  "access_key"};
    return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                       [&](std::string_view suffix) { return ends_with_name(name, suffix); });
}

// "pad_token=<pad>" and "token: 42" are words of every language model and no secrets. What else follows such
// a name is hidden: a word too many costs less than a secret.
bool may_be_credential(std::string_view value) {
    constexpr std::ptrdiff_t kShortestToken = 6;
    const auto* const end = std::find_if_not(value.begin(), value.end(), is_token_char);
    return end - value.begin() >= kShortestToken && !std::all_of(value.begin(), end, is_digit);
}

struct KnownShape {
    std::string_view prefix;
    size_t least_after;  // token characters that must follow
};

constexpr std::array<KnownShape, 14> kShapes = {{{"hf_", 16},
                                                 {"ghp_", 20},
                                                 {"gho_", 20},
                                                 {"ghs_", 20},
                                                 {"github_pat_", 20},
                                                 {"glpat-", 16},
                                                 {"sk-", 20},
                                                 {"AKIA", 16},
                                                 {"ASIA", 16},
                                                 {"xoxb-", 10},
                                                 {"xoxp-", 10},
                                                 {"eyJ", 40},
                                                 {"AIza", 30},
                                                 {"nvapi-", 20}}};

size_t token_end(std::string_view text, size_t at) {
    while (at < text.size() && is_token_char(text[at]))
        ++at;
    return at;
}

bool has_known_shape(std::string_view word) {
    return std::any_of(kShapes.begin(), kShapes.end(), [&](const KnownShape& shape) {
        return word.starts_with(shape.prefix) && word.size() >= shape.prefix.size() + shape.least_after;
    });
}

// Text is copied word by word; a decision needs the name before a value and nothing further back.
class Redactor {
 public:
    explicit Redactor(std::string_view text) : text_(text) { out_.reserve(text.size()); }

    std::string run() && {
        while (at_ < text_.size()) {
            if (is_name_char(text_[at_])) {
                take_word();
            } else if (text_.substr(at_, 3) == "://") {
                take_url_authority();
            } else {
                out_.push_back(text_[at_++]);
            }
        }
        return std::move(out_);
    }

 private:
    void take_word() {
        const std::string_view ahead = text_.substr(at_, kLookBytes);
        if (has_known_shape(ahead.substr(0, token_end(ahead, 0)))) return hide_until(token_end(text_, at_));
        size_t name_end = at_;
        while (name_end < text_.size() && is_name_char(text_[name_end]))
            ++name_end;
        const std::string_view name = text_.substr(at_, name_end - at_);
        copy_until(name_end);
        if (ends_with_name(name, "authorization")) {
            take_authorization();
        } else if (is_secret_name(name)) {
            take_value(true);
        } else if (ends_with_name(name, "token")) {
            take_value(false);
        }
    }

    // The separator between a name and its value: '=', ':' with quotes and blanks around. 0: there is none.
    size_t separator_length() const {
        size_t at = at_;
        bool found = false;
        while (at < text_.size() && at - at_ < 8) {
            const char c = text_[at];
            const bool is_separator = c == '=' || c == ':';
            if (!is_separator && c != ' ' && c != '"' && c != '\'') break;
            if (is_separator && found) break;
            found |= is_separator;
            ++at;
        }
        return found ? at - at_ : 0;
    }

    static size_t value_size(std::string_view text) {
        return std::min(text.find_first_of(" \t\"',;)}]\r\n"), text.size());
    }
    void hide_value() { hide_until(at_ + value_size(text_.substr(at_))); }

    void take_value(bool always) {
        const size_t separator = separator_length();
        if (separator == 0) return;
        copy_until(at_ + separator);
        const std::string_view ahead = text_.substr(at_, kLookBytes);
        const std::string_view value = ahead.substr(0, value_size(ahead));
        if (value.empty() || value == "None" || value == "null" || value.starts_with("://")) return;
        if (always || may_be_credential(value)) hide_value();
    }

    // Scheme and credentials, "Bearer abc", whatever the scheme is called.
    void take_authorization() {
        const size_t separator = separator_length();
        if (separator == 0) return;
        copy_until(at_ + separator);
        size_t end = at_ + value_size(text_.substr(at_));
        if (end < text_.size() && text_[end] == ' ') end += 1 + value_size(text_.substr(end + 1));
        hide_until(end);
    }

    // "://user:password@host": both are hidden.
    void take_url_authority() {
        copy_until(at_ + 3);
        const size_t end = text_.find_first_of("/@ \t\"'<>\r\n", at_);
        if (end == std::string_view::npos || text_[end] != '@') return;
        if (text_.substr(at_, end - at_).find(':') != std::string_view::npos) hide_until(end);
    }

    void copy_until(size_t end) {
        out_ += text_.substr(at_, end - at_);
        at_ = end;
    }
    void hide_until(size_t end) {
        if (end > at_) out_ += kHidden;
        at_ = end;
    }

    std::string_view text_;
    size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string redact(std::string_view text) {
    return Redactor(text).run();
}

}  // namespace inquest::report
