#include "spank/harvest/node_json.h"

#include <nlohmann/json.hpp>

namespace inquest::harvest {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kNsPerSecond = 1000000000U;

const char* reason_text(Reason reason) {
    switch (reason) {
        case Reason::stall:
            return "stall";
        case Reason::death:
            return "death";
        case Reason::failure:
            return "failure";
        case Reason::end:
            return "end";
        case Reason::requested:
            return "requested";
        case Reason::divergence:
            return "divergence";
    }
    return "end";
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json task_json(const TaskRecord& task) {
    return {{"task", task.task},
            {"pid", task.pid},
            {"started_mono_ns", or_null(task.started_mono_ns)},
            {"exited_mono_ns", or_null(task.exited_mono_ns)},
            {"exited_wall_ns", or_null(task.exited_wall_ns)},
            {"wait_status", or_null(task.wait_status)},
            {"oom_kills", task.oom_kills}};
}

Json process_json(const ProcessRecord& record) {
    return {{"pid", record.process.pid},
            {"start", record.process.start_time_ticks},
            {"alive", record.alive},
            {"state", record.state ? Json(std::string(1, *record.state)) : Json(nullptr)},
            {"gone_mono_ns", or_null(record.gone_mono_ns)},
            {"calls_begun", or_null(record.calls_begun)},
            {"cpu_ns", or_null(record.cpu_ns)},
            {"cpu_after_ns", or_null(record.cpu_after_ns)},
            {"cpu_interval_ns", or_null(record.cpu_interval_ns)},
            {"bytes_written", or_null(record.bytes_written)},
            {"bytes_written_after", or_null(record.bytes_written_after)}};
}

template <typename Record>
Json list_json(const std::vector<Record>& records, Json (*render)(const Record&)) {
    Json list = Json::array();
    for (const Record& record : records)
        list.push_back(render(record));
    return list;
}

}  // namespace

std::string render_node_json(const StepDescription& step, const NodeFacts& facts) {
    const Json node = {{"schema", "inquest-node-evidence-1"},
                       {"job", step.job_id},
                       {"step", step_name(step.step_id)},
                       {"node", step.node},
                       {"node_index", step.node_index},
                       {"node_count", step.node_count},
                       {"nodes", step.nodes},
                       {"task_count", step.task_count},
                       {"reason", reason_text(facts.reason)},
                       {"collected_mono_ns", facts.collected_mono_ns},
                       {"collected_wall_ns", facts.collected_wall_ns},
                       {"stall_ns", step.stall_seconds * kNsPerSecond},
                       {"stalled_since_mono_ns", or_null(facts.stalled_since_mono_ns)},
                       {"divergence_noticed_mono_ns", or_null(facts.divergence_noticed_mono_ns)},
                       {"cancelled_for_divergence", facts.cancelled_for_divergence},
                       {"step_ended", step.ended},
                       {"injected", step.injected},
                       {"left_alone", step.left_alone},
                       {"tasks", list_json(step.tasks, task_json)},
                       {"processes", list_json(facts.processes, process_json)},
                       {"damage", facts.damage}};
    return node.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace inquest::harvest
