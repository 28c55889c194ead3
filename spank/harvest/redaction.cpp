#include "spank/harvest/redaction.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace inquest::harvest {
namespace {

constexpr std::string_view kReplacement = "<redacted>";
constexpr size_t kMinTokenBytes = 16; /* a shorter word after a token prefix is an ordinary word */
constexpr std::array<std::string_view, 10> kSecretNames{"token",       "password",  "passwd",  "secret",
                                                        "apikey",      "api_key",   "api-key", "access_key",
                                                        "private_key", "credential"};
constexpr std::array<std::string_view, 2> kSchemes{"bearer", "basic"};
constexpr std::array<std::string_view, 12> kTokenPrefixes{"hf_",         "ghp_",   "gho_",  "ghs_",
                                                          "github_pat_", "glpat-", "xoxb-", "xoxp-",
                                                          "AKIA",        "ASIA",   "sk-",   "nvapi-"};

char lower(char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

std::string lowered(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

bool is_word_byte(char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '-' || byte == '.';
}

bool ends_value(char byte) {
    return std::isspace(static_cast<unsigned char>(byte)) != 0 || byte == ',' || byte == ';' || byte == '&' ||
           byte == ')' || byte == '}' || byte == ']';
}

/* The name has to end its word: "tokens" and "tokenizer" in a training log are no secrets. */
bool holds_name(std::string_view word, std::string_view name) {
    const size_t found = word.find(name);
    if (found == std::string_view::npos) return false;
    const size_t end = found + name.size();
    return end == word.size() || std::isalpha(static_cast<unsigned char>(word[end])) == 0;
}

bool is_secret_name(std::string_view word) {
    const std::string lower_word = lowered(word);
    return std::any_of(kSecretNames.begin(), kSecretNames.end(),
                       [&](std::string_view name) { return holds_name(lower_word, name); });
}

bool is_scheme(std::string_view word) {
    const std::string name = lowered(word);
    return std::find(kSchemes.begin(), kSchemes.end(), name) != kSchemes.end();
}

bool is_token(std::string_view word) {
    return word.size() >= kMinTokenBytes &&
           std::any_of(kTokenPrefixes.begin(), kTokenPrefixes.end(),
                       [&](std::string_view prefix) { return word.starts_with(prefix); });
}

/* Scans one line; `output_` grows by it. */
class LineRedactor {
 public:
    LineRedactor(std::string_view line, std::string& output) : line_(line), output_(output) {}

    void run() {
        while (position_ < line_.size()) {
            if (line_.substr(position_).starts_with("://")) {
                copy(3);
                redact_url_password();
            } else if (is_word_byte(line_[position_])) {
                take_word();
            } else {
                copy(1);
            }
        }
    }

 private:
    void copy(size_t bytes) {
        output_ += line_.substr(position_, bytes);
        position_ += bytes;
    }

    void take_word() {
        const std::string_view word = word_at(position_);
        if (is_token(word)) {
            output_ += kReplacement;
            position_ += word.size();
            return;
        }
        copy(word.size());
        if (is_secret_name(word)) redact_assigned_value();
        if (is_scheme(word)) redact_scheme_value();
    }

    [[nodiscard]] size_t skip_blanks(size_t from) const {
        while (from < line_.size() && (line_[from] == ' ' || line_[from] == '\t'))
            from++;
        return from;
    }

    /* After a secret's name: optional closing quote, '=' or ':', value. */
    void redact_assigned_value() {
        size_t next = position_;
        if (next < line_.size() && (line_[next] == '"' || line_[next] == '\'')) next++;
        next = skip_blanks(next);
        if (next >= line_.size() || (line_[next] != '=' && line_[next] != ':')) return;
        next = skip_blanks(next + 1);
        if (!is_scheme(word_at(next))) redact_value(next);
    }

    /* "Basic" is also an ordinary word; what follows it is a secret only when it is long. */
    void redact_scheme_value() {
        const size_t next = skip_blanks(position_);
        size_t end = next;
        while (end < line_.size() && !ends_value(line_[end]))
            end++;
        if (end - next >= kMinTokenBytes) redact_value(next);
    }

    [[nodiscard]] std::string_view word_at(size_t begin) const {
        size_t end = begin;
        while (end < line_.size() && is_word_byte(line_[end]))
            end++;
        return line_.substr(begin, end - begin);
    }

    void redact_value(size_t begin) {
        if (begin >= line_.size() || begin == position_) return;
        const char quote = line_[begin];
        const bool quoted = quote == '"' || quote == '\'';
        size_t end = quoted ? begin + 1 : begin;
        while (end < line_.size() && (quoted ? line_[end] != quote : !ends_value(line_[end])))
            end++;
        copy(begin + (quoted ? 1 : 0) - position_);
        if (end > position_) output_ += kReplacement;
        position_ = end;
    }

    void redact_url_password() {
        const size_t end = line_.find_first_of("/ \t\"'", position_);
        const std::string_view authority = line_.substr(position_, end - position_);
        const size_t at = authority.rfind('@');
        const size_t colon = authority.find(':');
        if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return;
        copy(colon + 1);
        output_ += kReplacement;
        position_ += at - colon - 1;
    }

    std::string_view line_;
    std::string& output_;
    size_t position_ = 0;
};

}  // namespace

std::string redact_secrets(std::string_view text) {
    std::string output;
    output.reserve(text.size());
    bool in_private_key = false;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const bool begins_key = line.find("-----BEGIN") != std::string_view::npos &&
                                line.find("PRIVATE KEY") != std::string_view::npos;
        const bool ends_key = line.find("-----END") != std::string_view::npos;
        in_private_key = in_private_key || begins_key;
        if (in_private_key) output += kReplacement;
        if (!in_private_key) LineRedactor(line, output).run();
        if (ends_key) in_private_key = false;
        if (end == std::string_view::npos) break;
        output += '\n';
        text.remove_prefix(end + 1);
    }
    return output;
}

}  // namespace inquest::harvest
