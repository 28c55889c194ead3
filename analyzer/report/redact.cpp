#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/report/sanitize.h"

namespace inquest::report {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
// A name that ends in one of these words holds a secret.
constexpr std::array<std::string_view, 12> kSecretNames = {
    "token",   "password",   "passwd",        "secret",      "api_key",    "apikey",
    "api-key", "access_key", "authorization", "private_key", "credential", "credentials"};
// Public prefixes of secrets: Hugging Face, GitHub, OpenAI-style, AWS, Slack, Weights & Biases' local form.
constexpr std::array<std::string_view, 8> kTokenPrefixes = {"hf_", "ghp_", "gho_",  "github_pat_",
                                                            "sk-", "AKIA", "xoxb-", "local-"};
constexpr size_t kTokenMinBytes = 16;

bool is_token_byte(char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
           std::string_view("_-./+=~").find(byte) != std::string_view::npos;
}

bool equal_without_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char left, char right) {
               return std::tolower(static_cast<unsigned char>(left)) ==
                      std::tolower(static_cast<unsigned char>(right));
           });
}

bool ends_in_secret_name(std::string_view text) {
    return std::any_of(kSecretNames.begin(), kSecretNames.end(), [&](std::string_view name) {
        return text.size() >= name.size() && equal_without_case(text.substr(text.size() - name.size()), name);
    });
}

// Length of ": ", "=", "\": \"" and the like at the start of `text`; 0: no assignment.
size_t assignment_length(std::string_view text) {
    size_t length = 0;
    while (length < text.size() && (text[length] == '"' || text[length] == '\''))
        ++length;
    while (length < text.size() && text[length] == ' ' && length < 4)
        ++length;
    if (length >= text.size() || (text[length] != '=' && text[length] != ':')) return 0;
    ++length;
    while (length < text.size() && std::string_view(" \"'").find(text[length]) != std::string_view::npos)
        ++length;
    return length;
}

size_t value_length(std::string_view text) {
    constexpr std::array<std::string_view, 2> kSchemes = {"Bearer ", "Basic "};
    size_t length = 0;
    for (const std::string_view scheme : kSchemes) {
        if (equal_without_case(text.substr(0, scheme.size()), scheme)) length = scheme.size();
    }
    const size_t end = text.find_first_of(" \t\"',;)}]", length);
    return std::min(end, text.size());
}

size_t known_token_length(std::string_view text) {
    for (const std::string_view prefix : kTokenPrefixes) {
        if (text.substr(0, prefix.size()) != prefix) continue;
        size_t length = prefix.size();
        while (length < text.size() && is_token_byte(text[length]))
            ++length;
        if (length >= kTokenMinBytes) return length;
    }
    return 0;
}

// "user:password@" after "://": length up to and without the '@'; 0: none.
size_t url_credentials_length(std::string_view text) {
    const size_t end = text.find_first_of("@/ \t\"'");
    if (end == std::string_view::npos || text[end] != '@') return 0;
    return text.substr(0, end).find(':') == std::string_view::npos ? 0 : end;
}

bool at_word_start(std::string_view done) {
    return done.empty() || !is_token_byte(done.back()) || done.back() == '=' || done.back() == '/';
}

}  // namespace

std::string redact(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        size_t secret = at_word_start(result) ? known_token_length(text) : 0;
        const bool after_scheme = result.size() >= 3 && result.compare(result.size() - 3, 3, "://") == 0;
        if (secret == 0 && after_scheme) secret = url_credentials_length(text);
        if (secret == 0 && ends_in_secret_name(result)) {
            const size_t assignment = assignment_length(text);
            result += text.substr(0, assignment);
            text.remove_prefix(assignment);
            if (assignment > 0) secret = value_length(text);
        }
        if (secret > 0) {
            result += kRedacted;
            text.remove_prefix(secret);
        } else if (!text.empty()) {
            result += text.front();
            text.remove_prefix(1);
        }
    }
    return result;
}

}  // namespace inquest::report
