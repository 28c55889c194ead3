// Makes text that a user's process wrote safe to print and to store: nothing that a terminal obeys, no
// invalid UTF-8, no secrets, bounded length.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/model/diagnosis.h"

namespace inquest::report {

inline constexpr size_t kTextMaxBytes = 2000;

// Control characters (C0, DEL, C1), bidirectional overrides and bytes that are not UTF-8 become '?', line
// breaks and tabs a blank. Cut at a character boundary, with "..." at the end when something was cut.
std::string printable(std::string_view text, size_t max_bytes = kTextMaxBytes);

// Replaces by "[redacted]": the values of names that end in password, passwd, secret, api_key, access_key,
// private_key, access_token and the like ("WANDB_API_KEY=...", "password: ..."), "token=" values that may be
// one, scheme and credentials after Authorization, user:password in URLs, and the well-known shapes of
// Hugging Face, GitHub, GitLab, OpenAI, AWS, Google, NVIDIA, Slack and JSON Web Tokens. Linear in the text.
std::string redact(std::string_view text);

// Every text of the diagnosis through both.
model::Diagnosis make_safe(model::Diagnosis diagnosis);

}  // namespace inquest::report
