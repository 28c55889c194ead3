/* Variables that are lists of parts, such as PYTHONPATH and XLA_FLAGS: a part is added to them and taken out
 * again, and what else is in them stays. */
#pragma once

#include <optional>
#include <string>

#include "spank/launch/settings.h"

namespace inquest::launch {

/* `users` with `part` where the setting puts it. nullopt when an appended part is already there, whatever
 * value it has (XLA_FLAGS=--flag=false is the user's word on --flag). A prepended part that is in front
 * already is not doubled. */
std::optional<std::string> with_part(const Setting& setting, const std::optional<std::string>& users,
                                     const std::string& part);

/* The reverse, wherever in the list the part is by now; nullopt when nothing is left. */
std::optional<std::string> without_part(const Setting& setting, const std::string& value,
                                        const std::string& part);

}  // namespace inquest::launch
