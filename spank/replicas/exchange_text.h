/* Records as lines of text, in which the nodes of a step tell them to each other (docs/formats/evidence.md).
 * Pure. */
#ifndef INQUEST_SPANK_REPLICAS_EXCHANGE_TEXT_H
#define INQUEST_SPANK_REPLICAS_EXCHANGE_TEXT_H

#include <optional>
#include <string>
#include <string_view>

#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

constexpr size_t kMaxLineBytes = 1024;

/* Without the line break. Empty when the record does not fit into a line. */
std::string format_record(const ReplicaRecord& record);

/* Nothing for any text that format_record does not write. */
std::optional<ReplicaRecord> parse_record(std::string_view line);

}  // namespace inquest::replicas

#endif
