/* Reader of step messages and step journals (spank/format/step_journal.h).
 *
 * The bytes come from root's plugin, the texts in them from the user's environment: every length is checked,
 * and a name that becomes a path component has to be one. Pure functions; errors are texts. */
#ifndef INQUEST_SPANK_HARVEST_STEP_MESSAGES_H
#define INQUEST_SPANK_HARVEST_STEP_MESSAGES_H

#include <array>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "spank/format/step_journal.h"
#include "spank/harvest/step_description.h"

namespace inquest::harvest {

constexpr size_t kMaxTasksPerNode = 4096;
constexpr size_t kMaxJournalBytes = size_t{4} * 1024 * 1024;

struct StepMessage {
    inquest_step_message fields{};
    std::array<std::string, INQUEST_STEP_TEXTS> texts; /* empty unless STEP_START */
};

/* Reads the message that starts at `bytes`; more may follow it (fields.total_bytes is its length). */
tl::expected<StepMessage, std::string> parse_step_message(std::string_view bytes);

/* Adds a message to the description. STEP_START has to come first; a second one is ignored. */
tl::expected<void, std::string> apply_step_message(StepDescription& step, const StepMessage& message);

struct JournalContent {
    StepDescription step;
    std::vector<std::string> messages; /* the whole ones, as bytes, in order */
    std::vector<std::string> damage;   /* what could not be read, and why */
};

/* Reads a whole journal. An error only when there is no usable STEP_START. */
tl::expected<JournalContent, std::string> parse_step_journal(std::string_view bytes);

}  // namespace inquest::harvest

#endif
