// Ranks whose Slurm task is a launcher that starts them (torchrun's agent, a parent that spawns): how they
// ended, which of several attempts counts and which number a rank has that failed before it joined a process
// group.
#pragma once
#include <vector>

#include "analyzer/model/rank.h"

namespace inquest::evidence {

// A launcher may start all ranks again in the same step. Of those that one launcher started, only the last
// attempt in which ranks joined their group stays; a later one that never came so far is left to stand beside
// it, because its failure tells nothing. What a rank started itself, or nothing that is known, is no attempt.
void leave_out_earlier_attempts(std::vector<model::Rank>& processes);

// The status of a task is the launcher's. What a parent recorded about a process takes its place.
void take_ends_from_parents(std::vector<model::Rank>& processes);

// Gives ranks to failed processes that joined no group: torchrun's number, else the task's, which programs
// take for the rank. A launcher is none.
void number_failed_ranks(std::vector<model::Rank>& processes);

}  // namespace inquest::evidence
