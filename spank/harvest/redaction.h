/* Removes secrets from text before it is written anywhere. */
#ifndef INQUEST_SPANK_HARVEST_REDACTION_H
#define INQUEST_SPANK_HARVEST_REDACTION_H

#include <string>
#include <string_view>

namespace inquest::harvest {

/* The text with the values of tokens, passwords and keys replaced by "<redacted>": what follows a name such
 * as *token*, *password*, *secret*, *api_key* and '=' or ':'; what follows "Bearer" or "Basic"; words with
 * the prefix of a known kind of token; the password in scheme://user:password@host; private keys in PEM form.
 * Line breaks are kept. Linear in time. */
std::string redact_secrets(std::string_view text);

}  // namespace inquest::harvest

#endif
