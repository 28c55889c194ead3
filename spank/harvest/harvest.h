/* Writes the evidence of one node (docs/formats/evidence.md). The only writer of that format.
 *
 * Runs as the user whose step it is, in inquestd's step worker and in a child of the epilog. Everything in
 * the box directory was written by that user's processes. Single threaded; blocks until done, at most until
 * the request's deadline plus the time of one file operation. What cannot be collected becomes a line of
 * damage; only what prevents node.json is an error. */
#ifndef INQUEST_SPANK_HARVEST_HARVEST_H
#define INQUEST_SPANK_HARVEST_HARVEST_H

#include <cstdint>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "spank/harvest/harvest_system.h"
#include "spank/harvest/log_files.h"
#include "spank/harvest/node_json.h"
#include "spank/harvest/step_description.h"

namespace inquest::harvest {

struct HarvestRequest {
    StepDescription step; /* with the directories to read and to write */
    Reason reason = Reason::end;
    std::optional<uint64_t> stalled_since_mono_ns;
    std::optional<uint64_t> divergence_noticed_mono_ns;
    bool cancelled_for_divergence = false;
    /* A diagnosis of replicas that differ was made from the boxes and tensor tables that are there: they
     * stay, as
     * *.analysed.*, beside the new ones, whose rings may have overwritten what it is about. */
    bool keeps_analysed = false;
    /* False where evidence is written because others want it: when they have taken it away again, nothing is
     * written. */
    bool may_make_directories = true;
    std::map<ProcessIdentity, uint64_t> gone_mono_ns; /* when processes were noticed to be gone */
    std::vector<LogFile> logs;                        /* known before; those of living processes are added */
    std::vector<std::string> damage;                  /* met before the harvest: lines for node.json */
    uint64_t deadline_mono_ns = 0;                    /* after it nothing is waited for any more */
};

struct HarvestResult {
    size_t boxes = 0;
    std::vector<std::string> damage; /* as written to node.json */
};

/* Collects and writes <report directory>/evidence/<step>/<node>/, making directories that are missing if it
 * may. */
tl::expected<HarvestResult, std::string> harvest_node(const HarvestRequest& request,
                                                      const HarvestSystem& system);

}  // namespace inquest::harvest

#endif
