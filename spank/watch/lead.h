/* The lead: the worker of the step's first node. It has the evidence of all nodes analysed, and removes it
 * when the step turned out to be healthy: its tasks' exit statuses say so, or, where replicas seemed to
 * differ, the analyzer does. All calls return at once, except finish(). */
#ifndef INQUEST_SPANK_WATCH_LEAD_H
#define INQUEST_SPANK_WATCH_LEAD_H

#include <cstdint>
#include <optional>
#include <utility>

#include "spank/harvest/harvest_system.h"
#include "spank/harvest/node_survey.h"
#include "spank/watch/analyzer_process.h"
#include "spank/watch/diagnosis_state.h"

namespace inquest::watch {

class Lead {
 public:
    /* Both references have to outlive the lead. */
    Lead(const harvest::StepDescription& step, const harvest::HarvestSystem& system,
         std::string analyzer_path)
        : step_(step), system_(system), analyzer_(std::move(analyzer_path)) {}

    /* This node wrote its evidence about the event whose sign has this time. */
    void on_harvest(int64_t sign_ns);

    void tick();

    /* The first diagnosis of a step in which replicas differ, once; none whose cause is unknown. */
    std::optional<DiagnosisState> take_divergence() { return std::exchange(divergence_, std::nullopt); }

    /* The job was cancelled because of the newest diagnosis: how its tasks end then says nothing more. */
    void keep_diagnosis() { keeps_diagnosis_ = true; }

    /* For the end of the job: lets a running analysis end and, when no task of this node failed, waits for
     * the other nodes to end in order to remove the evidence of a healthy step. An analysis that has not
     * begun is the epilog's. */
    void finish(uint64_t deadline_mono_ns);

 private:
    struct Wanted {
        int64_t sign_ns = 0;
        uint64_t since_mono_ns = 0;
    };

    [[nodiscard]] bool is_due() const;
    void conclude();
    void take_analysis();
    void remove_evidence();
    bool remove_if_well();
    [[nodiscard]] bool has_ended_well() const;
    [[nodiscard]] bool is_about_replicas() const;
    [[nodiscard]] bool told_stands() const;
    bool is_settled();
    void look_at_end();

    const harvest::StepDescription& step_;
    const harvest::HarvestSystem& system_;
    AnalyzerProcess analyzer_;
    harvest::NodeSurvey survey_;
    std::optional<Wanted> wanted_;
    uint64_t looked_mono_ns_ = 0;
    bool analysing_ = false;
    bool keeps_diagnosis_ = false;
    bool told_divergence_ = false;
    bool has_all_evidence_ = false; /* the analysis that runs, or ran last */
    bool told_from_all_ = false;    /* what was told last is from such an analysis */
    std::optional<DiagnosisState> divergence_;
    bool concluded_ = false; /* all nodes had ended when it was analysed last, or the evidence was removed */
};

}  // namespace inquest::watch

#endif
