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

    /* The step has started, or was going on when the daemon was started: then takes up what an earlier worker
     * has told about it. `since_wall_ns`: the start of the step by this node's clock. */
    void take_up(uint64_t since_wall_ns);

    /* This node wrote its evidence about the event whose sign has this time. */
    void on_harvest(int64_t sign_ns);

    void tick();

    /* The newest diagnosis of a step in which replicas differ, once: one that names a cause, or one that
     * takes such a one back. A cause that is not known is not told else. */
    std::optional<DiagnosisState> take_verdict() { return std::exchange(verdict_, std::nullopt); }

    /* Whether evidence that the newest diagnosis lacks is still waited for. */
    [[nodiscard]] bool awaits_evidence() const { return wanted_ || late_ || analysing_; }

    /* The job was cancelled because of the newest diagnosis: how its tasks end then says nothing more. */
    void keep_diagnosis() { keeps_diagnosis_ = true; }

    /* For the end of the job: lets a running analysis end and, when no task of this node failed, waits for
     * the other nodes to end in order to remove the evidence of a healthy step. An analysis that has not
     * begun is the epilog's. */
    void finish(uint64_t deadline_mono_ns);

 private:
    struct Wanted {
        int64_t sign_ns = INT64_MAX;
        uint64_t since_mono_ns = 0;
    };

    [[nodiscard]] bool is_due() const;
    [[nodiscard]] uint64_t look_interval_ns() const;
    void survey_nodes();
    void look_for_wanted();
    void look_for_late();
    void conclude(const Wanted& about);
    void take_analysis();
    void tell(const DiagnosisState& diagnosis);
    void take_back(const DiagnosisState& diagnosis);
    void remove_false_alarm();
    void remove_evidence();
    bool remove_if_well();
    [[nodiscard]] bool has_ended_well() const;
    [[nodiscard]] bool told_is_silent() const;
    [[nodiscard]] bool told_stands() const;
    bool is_settled();
    void look_at_end();

    const harvest::StepDescription& step_;
    const harvest::HarvestSystem& system_;
    AnalyzerProcess analyzer_;
    harvest::NodeSurvey survey_;
    std::optional<Wanted> wanted_;
    std::optional<Wanted> late_; /* nodes whose evidence was not there in time */
    uint64_t looked_mono_ns_ = 0;
    uint64_t last_look_ns_ = 0; /* how long it took */
    bool analysing_ = false;
    bool keeps_diagnosis_ = false;
    bool has_told_ = false;         /* something, be it taken back by now */
    bool is_told_ = false;          /* something that was not taken back */
    bool has_all_evidence_ = false; /* the analysis that runs, or ran last */
    bool told_from_all_ = false;    /* what was told last is from such an analysis */
    bool is_false_alarm_ = false;   /* by the newest analysis */
    std::optional<DiagnosisState> verdict_;
    bool concluded_ = false; /* all nodes had ended when it was analysed last, or the evidence was removed */
};

}  // namespace inquest::watch

#endif
