#include "epilog/slurmdb_session.h"

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>

#include <memory>
#include <string>
#include <vector>

#include "epilog/job_run.h"

namespace inquest::epilog {
namespace {

/* Slurm's lists are a pointer type whose name depends on the version. */
using SlurmList = decltype(slurm_list_create(nullptr));
struct ListDeleter {
    using pointer = SlurmList;
    void operator()(SlurmList list) const { slurm_list_destroy(list); }
};
using OwnedList = std::unique_ptr<void, ListDeleter>;

/* Which records a request is about, with the storage that the request points into. */
class JobCondition {
 public:
    JobCondition(std::string cluster, slurm_selected_step_t selected, std::uint32_t flags)
        : cluster_(std::move(cluster)), selected_(selected) {
        slurm_list_append(clusters_.get(), cluster_.data());
        slurm_list_append(steps_.get(), &selected_);
        condition_.cluster_list = clusters_.get();
        condition_.step_list = steps_.get();
        condition_.db_flags = SLURMDB_JOB_FLAG_NOTSET;
        condition_.flags = flags;
    }
    JobCondition(const JobCondition&) = delete;
    JobCondition& operator=(const JobCondition&) = delete;

    void restrict_to_state(std::uint32_t state) {
        state_ = std::to_string(state);
        slurm_list_append(states_.get(), state_.data());
        condition_.state_list = states_.get();
    }
    slurmdb_job_cond_t* get() { return &condition_; }

 private:
    std::string cluster_;
    std::string state_;
    slurm_selected_step_t selected_;
    OwnedList clusters_{slurm_list_create(nullptr)};
    OwnedList steps_{slurm_list_create(nullptr)};
    OwnedList states_{slurm_list_create(nullptr)};
    slurmdb_job_cond_t condition_{};
};

class Connection {
 public:
    Connection() {
        std::uint16_t flags = 0;
        connection_ = slurmdb_connection_get(&flags);
    }
    ~Connection() {
        if (connection_ != nullptr) slurmdb_connection_close(&connection_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    void* get() const { return connection_; }

 private:
    void* connection_ = nullptr;
};

slurm_selected_step_t select_job(std::uint32_t job_id) {
    slurm_selected_step_t selected{};
    selected.array_task_id = NO_VAL;
    selected.het_job_offset = NO_VAL;
    selected.step_id.job_id = job_id;
    selected.step_id.step_id = NO_VAL;
    selected.step_id.step_het_comp = NO_VAL;
    return selected;
}

/* The job id of one task of an array is also the array's, and that of a component the whole heterogeneous
 * job's: a change by that id would hit all of them [seen on 22.05.8], so these are named by their index. */
slurm_selected_step_t select_run(const JobRun& run) {
    slurm_selected_step_t selected = select_job(run.job_id);
    if (run.array_job_id != 0) {
        selected.step_id.job_id = run.array_job_id;
        selected.array_task_id = run.array_task_id;
    } else if (run.het_job_id != 0) {
        selected.step_id.job_id = run.het_job_id;
        selected.het_job_offset = run.het_job_offset;
    }
    return selected;
}

std::string text_or_empty(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

std::string value_of(const slurmdb_job_rec_t& record, RecordField field) {
    switch (field) {
        case RecordField::kSystemComment:
            return text_or_empty(record.system_comment);
        case RecordField::kComment:
            return text_or_empty(record.derived_es);
        case RecordField::kAdminComment:
            break;
    }
    return text_or_empty(record.admin_comment);
}

JobRun run_of(const slurmdb_job_rec_t& record, RecordField field) {
    JobRun run;
    run.job_id = record.jobid;
    if (record.array_job_id != 0 && record.array_task_id != NO_VAL) {
        run.array_job_id = record.array_job_id;
        run.array_task_id = record.array_task_id;
    }
    if (record.het_job_id != 0 && record.het_job_offset != NO_VAL) {
        run.het_job_id = record.het_job_id;
        run.het_job_offset = record.het_job_offset;
    }
    run.state = record.state;
    run.submitted_wall_s = record.submit;
    run.started_wall_s = record.start;
    run.value = value_of(record, field);
    return run;
}

/* All runs of the job; false when slurmdbd did not answer. */
bool get_runs(void* connection, const RecordEntry& entry, std::vector<JobRun>& runs) {
    JobCondition condition(entry.cluster, select_job(entry.job_id), JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_STEP);
    const OwnedList records(slurmdb_jobs_get(connection, condition.get()));
    if (!records) return false;
    auto* iterator = slurm_list_iterator_create(records.get());
    while (const void* record = slurm_list_next(iterator)) {
        JobRun run = run_of(*static_cast<const slurmdb_job_rec_t*>(record), entry.field);
        if (run.job_id == entry.job_id) runs.push_back(std::move(run));
    }
    slurm_list_iterator_destroy(iterator);
    return true;
}

void set_value(slurmdb_job_rec_t& change, RecordField field, std::string& line) {
    change.derived_ec = NO_VAL;
    switch (field) {
        case RecordField::kSystemComment:
            change.system_comment = line.data();
            return;
        case RecordField::kComment:
            change.derived_es = line.data();
            return;
        case RecordField::kAdminComment:
            change.admin_comment = line.data();
            return;
    }
}

StoreOutcome change_record(void* connection, const RecordEntry& entry, const RunChoice& choice) {
    JobCondition condition(entry.cluster, select_run(choice.run), 0);
    if (choice.by_state) condition.restrict_to_state(choice.run.state);
    slurmdb_job_rec_t change{};
    std::string line = entry.line;
    set_value(change, entry.field, line);
    const OwnedList changed(slurmdb_job_modify(connection, condition.get(), &change));
    if (!changed) return StoreOutcome::kUnavailable;
    if (slurm_list_count(changed.get()) == 0) return StoreOutcome::kNoRecord;
    return slurmdb_connection_commit(connection, true) == SLURM_SUCCESS ? StoreOutcome::kStored
                                                                        : StoreOutcome::kUnavailable;
}

}  // namespace

StoreOutcome store_through_slurmdbd(const RecordEntry& entry) {
    slurm_init(nullptr);
    const Connection connection;
    std::vector<JobRun> runs;
    if (connection.get() == nullptr || !get_runs(connection.get(), entry, runs)) {
        return StoreOutcome::kUnavailable;
    }
    if (runs.empty()) return StoreOutcome::kNoRecord;
    const auto choice = choose_run(runs, entry.run_wall_s);
    if (!choice) return StoreOutcome::kOtherRun;
    if (!may_replace(choice->run.value, entry)) return StoreOutcome::kKept;
    return change_record(connection.get(), entry, *choice);
}

}  // namespace inquest::epilog
