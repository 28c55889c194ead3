// Joins what was read of a step into its timeline.
#pragma once
#include <string>
#include <vector>

#include "analyzer/evidence/notes.h"
#include "analyzer/evidence/store.h"
#include "analyzer/model/timeline.h"

namespace inquest::evidence {

struct NamedFolder {
    std::string path;  // relative to what was analysed
    FolderEvidence evidence;
};

// The notes stay in `notes`. A process's box, stack, flight recorder and sample meet by pid and start time
// within a node, a Slurm task by pid or, when the box's process is a child of the task, by task number.
model::Timeline assemble(std::vector<NamedFolder> folders, Notes& notes);

}  // namespace inquest::evidence
