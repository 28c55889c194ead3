/* What an earlier harvest of the same step wrote about this node, and what of it a later one keeps. */
#ifndef INQUEST_SPANK_HARVEST_EARLIER_HARVEST_H
#define INQUEST_SPANK_HARVEST_EARLIER_HARVEST_H

#include "spank/harvest/node_json.h"

namespace inquest::harvest {

/* What node.json in this directory says that later harvests keep: stall, divergence and the processes.
 * Empty when there is none; the file is the user's, so what is ill-formed counts as absent. */
NodeFacts read_earlier_harvest(int node_directory_fd);

/* Completes the facts of a harvest with those of an earlier one:
 * - a process that could not be sampled now, because it is gone or about to go, keeps its earlier sample;
 * - a process whose box is gone stays listed;
 * - a stall that no call of any process has followed stays known;
 * - so does a divergence, whatever followed. */
void keep_earlier_facts(const NodeFacts& earlier, NodeFacts& facts);

}  // namespace inquest::harvest

#endif
