#include "analyzer/evidence/node_json.h"

#include <algorithm>

#include "analyzer/evidence/json_tree.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr std::string_view kSchema = "inquest-node-evidence-1";
constexpr size_t kMostDamageLines = 1000;

// Typed access to one JSON object. null and absent are the same.
class Fields {
 public:
    Fields(const ValueTree& tree, Value object) : tree_(tree), object_(object) {}

    std::string text(std::string_view key) const {
        const Value* value = tree_.find(object_, key);
        return value == nullptr ? std::string() : clean_text(value->as_text());
    }
    std::optional<int64_t> integer(std::string_view key) const {
        const Value* value = tree_.find(object_, key);
        return value == nullptr ? std::nullopt : value->as_integer();
    }
    std::optional<int> small(std::string_view key) const {
        const auto value = integer(key);
        if (!value || *value < INT32_MIN || *value > INT32_MAX) return std::nullopt;
        return static_cast<int>(*value);
    }
    bool flag(std::string_view key) const {
        const Value* value = tree_.find(object_, key);
        return value != nullptr && value->as_boolean().value_or(false);
    }
    Values list(std::string_view key) const {
        const Value* value = tree_.find(object_, key);
        return value != nullptr && value->kind() == ValueKind::kList ? tree_.items(*value) : Values();
    }
    std::vector<std::string> texts(std::string_view key) const {
        std::vector<std::string> result;
        for (const Value item : list(key))
            result.push_back(clean_text(item.as_text()));
        return result;
    }

 private:
    const ValueTree& tree_;
    Value object_;
};

uint64_t not_negative(std::optional<int64_t> value) {
    return static_cast<uint64_t>(std::max<int64_t>(value.value_or(0), 0));
}

std::optional<model::WallNs> wall_of(const ClockPair& clock, std::optional<int64_t> mono_ns) {
    const model::WallNs wall = clock.wall_of(not_negative(mono_ns));
    if (wall == 0) return std::nullopt;
    return wall;
}

model::TaskEnd read_task(const Fields& fields, const ClockPair& clock) {
    model::TaskEnd task;
    task.task = fields.small("task").value_or(-1);
    task.pid = fields.small("pid").value_or(0);
    task.wait_status = fields.small("wait_status");
    task.exited_wall_ns = fields.integer("exited_wall_ns");
    if (!task.exited_wall_ns) task.exited_wall_ns = wall_of(clock, fields.integer("exited_mono_ns"));
    task.oom_kills = fields.integer("oom_kills").value_or(0);
    return task;
}

model::ProcessSample read_process(const Fields& fields, const ClockPair& clock) {
    model::ProcessSample sample;
    sample.alive = fields.flag("alive");
    sample.state = fields.text("state");
    sample.gone_wall_ns = wall_of(clock, fields.integer("gone_mono_ns"));
    sample.cpu_ns = fields.integer("cpu_ns").value_or(0);
    sample.cpu_after_ns = fields.integer("cpu_after_ns").value_or(0);
    sample.cpu_interval_ns = fields.integer("cpu_interval_ns").value_or(0);
    sample.bytes_written = fields.integer("bytes_written").value_or(0);
    sample.bytes_written_after = fields.integer("bytes_written_after").value_or(0);
    return sample;
}

void read_node(const Fields& fields, const ClockPair& clock, model::Node& node) {
    node.name = fields.text("node");
    node.index = fields.small("node_index").value_or(-1);
    node.reason = fields.text("reason");
    node.collected_wall_ns = fields.integer("collected_wall_ns").value_or(0);
    node.stalled_since_wall_ns = wall_of(clock, fields.integer("stalled_since_mono_ns"));
    node.stall_ns = fields.integer("stall_ns").value_or(0);
    node.step_ended = fields.flag("step_ended");
    node.cancelled_for_divergence = fields.flag("cancelled_for_divergence");
}

void read_step(const Fields& fields, NodeEvidence& evidence) {
    evidence.job = fields.integer("job");
    if (const std::string step = fields.text("step"); !step.empty()) evidence.step = step;
    evidence.node_count = fields.small("node_count");
    evidence.task_count = fields.small("task_count");
    evidence.node_names = expand_host_list(fields.text("nodes"));
    evidence.injected = fields.texts("injected");
    evidence.left_alone = fields.texts("left_alone");
}

void note_damage(const Fields& fields, const std::string& source, Notes& notes) {
    const Values lines = fields.list("damage");
    for (size_t i = 0; i < std::min(lines.count, kMostDamageLines); ++i) {
        notes.add(source, clean_text(lines[i].as_text()), "damage");
    }
}

}  // namespace

bool looks_like_node_json(std::string_view prefix) {
    const size_t start = prefix.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && prefix[start] == '{' &&
           prefix.find("\"inquest-node-evidence-") != std::string_view::npos;
}

std::optional<NodeEvidence> read_node_json(const std::string& source, std::string_view bytes,
                                           const Limits& limits, Notes& notes) {
    const Document document = read_json(bytes, limits);
    if (!document.damage.empty()) notes.add(source, document.damage);
    const ValueTree& tree = document.tree;
    const Fields fields(tree, document.root);
    if (document.root.kind() != ValueKind::kDict) {
        notes.add(source, "not node evidence");
        return std::nullopt;
    }
    if (const std::string schema = fields.text("schema"); schema != kSchema) {
        notes.add(source, "node evidence of schema \"" + schema + "\", not " + std::string(kSchema));
    }
    NodeEvidence evidence;
    const ClockPair clock{not_negative(fields.integer("collected_mono_ns")),
                          not_negative(fields.integer("collected_wall_ns"))};
    read_step(fields, evidence);
    read_node(fields, clock, evidence.node);
    evidence.node.source.source = source;
    for (const Value task : fields.list("tasks")) {
        evidence.node.tasks.push_back(read_task(Fields(tree, task), clock));
    }
    for (const Value process : fields.list("processes")) {
        const Fields of_process(tree, process);
        const ProcessKey key(of_process.small("pid").value_or(0), not_negative(of_process.integer("start")));
        evidence.processes[key] = read_process(of_process, clock);
    }
    note_damage(fields, source, notes);
    return evidence;
}

}  // namespace inquest::evidence
