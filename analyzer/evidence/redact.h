// Hides secrets in text that is shown to people or written to a report. Reading keeps the text as it is.
#pragma once
#include <string>
#include <string_view>

namespace inquest::evidence {

// Replaces by "[redacted]": the values of names that end in password, passwd, secret, api_key, access_key,
// private_key, auth_token, access_token and the like ("WANDB_API_KEY=...", "password: ..."), "token=" values
// that look like one, what follows "Bearer " or "Basic " after Authorization, user:password in URLs, and the
// well-known shapes of Hugging Face, GitHub, GitLab, OpenAI, AWS, Slack and JSON Web Tokens. Linear time.
std::string redact_secrets(std::string_view text);

}  // namespace inquest::evidence
