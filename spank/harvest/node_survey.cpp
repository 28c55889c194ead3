#include "spank/harvest/node_survey.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spank/harvest/file_access.h"
#include "spank/harvest/report_directory.h"

namespace inquest::harvest {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNodes = 65536;
constexpr size_t kMaxNodeJsonBytes = size_t{4} * 1024 * 1024;

bool has_succeeded(const Json& task) {
    const auto status = task.is_object() ? task.find("wait_status") : task.end();
    return task.is_object() && status != task.end() && status->is_number_integer() &&
           status->get<int64_t>() == 0;
}

bool has_failed(const Json& task) {
    const auto status = task.is_object() ? task.find("wait_status") : task.end();
    return task.is_object() && status != task.end() && status->is_number_integer() &&
           status->get<int64_t>() != 0;
}

bool is_number(const Json& node, const char* key) {
    const auto found = node.find(key);
    return found != node.end() && found->is_number();
}

void take_events(const Json& node, NodeState& state) {
    const auto reason = node.find("reason");
    state.noticed_divergence = is_number(node, "divergence_noticed_mono_ns");
    const auto cancelled = node.find("cancelled_for_divergence");
    state.cancelled_for_divergence = cancelled != node.end() && *cancelled == true;
    const auto is_reason = [&](const char* text) { return reason != node.end() && *reason == text; };
    state.stalled = is_number(node, "stalled_since_mono_ns") || is_reason("stall");
    state.noticed_else = state.stalled || is_reason("death");
}

void take_content(const std::string& text, NodeState& state) {
    const Json node = Json::parse(text, nullptr, false);
    if (!node.is_object()) return;
    const auto ended = node.find("step_ended");
    state.step_ended = ended != node.end() && ended->is_boolean() && ended->get<bool>();
    const auto collected = node.find("collected_wall_ns");
    if (collected != node.end() && collected->is_number_unsigned())
        state.collected_wall_ns = collected->get<uint64_t>();
    take_events(node, state);
    const auto tasks = node.find("tasks");
    if (tasks == node.end() || !tasks->is_array()) return;
    state.tasks = tasks->size();
    state.all_tasks_succeeded = std::all_of(tasks->begin(), tasks->end(), has_succeeded);
    state.any_task_failed = std::any_of(tasks->begin(), tasks->end(), has_failed);
}

}  // namespace

void NodeSurvey::update(const StepDescription& step) {
    const UniqueFd evidence = open_step_evidence(step);
    if (!evidence.valid()) return nodes_.clear();
    for (const std::string& node : list_directory(evidence.get(), kMaxNodes))
        read_node(evidence.get(), node);
}

void NodeSurvey::update_own(const StepDescription& step) {
    const UniqueFd evidence = open_step_evidence(step);
    if (evidence.valid()) read_node(evidence.get(), step.node);
}

void NodeSurvey::read_node(int evidence_fd, const std::string& node) {
    const UniqueFd directory = open_directory_at(evidence_fd, node);
    if (!directory.valid()) return;
    const UniqueFd file = open_regular_file(directory.get(), "node.json");
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return;
    NodeState& known = nodes_[node];
    const int64_t written_ns = status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
    if (known.inode == status.st_ino && known.written_ns == written_ns) return;
    known = NodeState{};
    known.inode = status.st_ino;
    known.written_ns = written_ns;
    const auto text = read_open_file(file.get(), kMaxNodeJsonBytes, KeptEnd::head);
    if (text) take_content(text->bytes, known);
}

bool NodeSurvey::all_newer_than(const StepDescription& step, int64_t time_ns) const {
    return nodes_.size() >= step.node_count &&
           std::all_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& node) { return node.second.written_ns >= time_ns; });
}

bool NodeSurvey::all_written_by(const StepDescription& step, int64_t time_ns) const {
    return nodes_.size() >= step.node_count &&
           std::all_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& node) { return node.second.written_ns <= time_ns; });
}

bool NodeSurvey::own_written_since(const StepDescription& step, uint64_t since_wall_ns) const {
    const auto own = nodes_.find(step.node);
    return own != nodes_.end() && own->second.collected_wall_ns >= since_wall_ns;
}

bool NodeSurvey::own_ended(const StepDescription& step, uint64_t since_wall_ns) const {
    const auto own = nodes_.find(step.node);
    return own != nodes_.end() && own->second.step_ended && own->second.collected_wall_ns >= since_wall_ns &&
           (own->second.all_tasks_succeeded || !all_tasks_succeeded(step));
}

bool NodeSurvey::all_ended(const StepDescription& step) const {
    return nodes_.size() >= step.node_count &&
           std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.step_ended; });
}

bool NodeSurvey::all_succeeded(const StepDescription& step) const {
    uint64_t tasks = 0;
    for (const auto& [name, state] : nodes_) {
        if (!state.all_tasks_succeeded) return false;
        tasks += state.tasks;
    }
    return tasks == step.task_count;
}

bool NodeSurvey::noticed_divergence() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node.second.noticed_divergence; });
}

bool NodeSurvey::cancelled_for_divergence() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node.second.cancelled_for_divergence; });
}

bool NodeSurvey::noticed_only_divergence() const {
    return noticed_divergence() && std::none_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
               return node.second.noticed_else || node.second.any_task_failed;
           });
}

bool NodeSurvey::none_failed() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
        return node.second.step_ended && node.second.all_tasks_succeeded;
    });
}

bool NodeSurvey::any_failed() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node.second.any_task_failed; });
}

bool NodeSurvey::any_stalled() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.stalled; });
}

}  // namespace inquest::harvest
