// Turns the records of a black box about the state that a rank trains into model::ReplicaRecords.
#pragma once
#include "analyzer/evidence/record_context.h"
#include "analyzer/model/replica.h"

namespace inquest::evidence {

// False when the record is of another kind. Impossible sites and parts become notes.
bool read_replica_record(const inquest_box_record& record, RecordContext& context,
                         model::ReplicaRecords& replica);

// Sorts everything that has a time by it. Call once, after all rings.
void finish_replica_records(model::ReplicaRecords& replica);

}  // namespace inquest::evidence
