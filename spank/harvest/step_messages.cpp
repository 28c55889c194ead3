#include "spank/harvest/step_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace inquest::harvest {
namespace {

constexpr size_t kMaxNodeNameBytes = 255;

tl::unexpected<std::string> bad(std::string why) {
    return tl::make_unexpected(std::move(why));
}

tl::expected<void, std::string> check_fields(const inquest_step_message& fields, size_t available_bytes) {
    if (fields.magic != INQUEST_STEP_MESSAGE_MAGIC) return bad("not a step message");
    if (fields.version != INQUEST_STEP_MESSAGE_VERSION) return bad(fmt::format("version {}", fields.version));
    if (fields.kind < INQUEST_STEP_START || fields.kind > INQUEST_JOB_END)
        return bad(fmt::format("kind {}", fields.kind));
    if (fields.total_bytes > INQUEST_STEP_MESSAGE_MAX_BYTES) return bad("too long");
    if (fields.total_bytes < sizeof fields || fields.total_bytes - sizeof fields != fields.text_bytes)
        return bad("lengths disagree");
    if (fields.total_bytes > available_bytes) return bad("cut off");
    if (fields.kind != INQUEST_STEP_START && fields.text_bytes != 0) return bad("unexpected texts");
    return {};
}

bool split_texts(std::string_view bytes, std::array<std::string, INQUEST_STEP_TEXTS>& texts) {
    for (std::string& text : texts) {
        const size_t end = bytes.find('\0');
        if (end == std::string_view::npos) return false;
        text = bytes.substr(0, end);
        bytes.remove_prefix(end + 1);
    }
    return bytes.empty();
}

bool is_node_name(std::string_view name) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    return !name.empty() && name.size() <= kMaxNodeNameBytes && name.front() != '.' &&
           name.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_directory_path(std::string_view path) {
    return path.size() > 1 && path.front() == '/' && path.back() != '/' &&
           path.find("/../") == std::string_view::npos && !path.ends_with("/..") && !path.ends_with("/.");
}

tl::expected<void, std::string> check_texts(const StepMessage& message) {
    if (!is_node_name(message.texts[INQUEST_STEP_TEXT_NODE])) return bad("node name");
    if (!is_directory_path(message.texts[INQUEST_STEP_TEXT_REPORT])) return bad("report directory");
    if (!is_directory_path(message.texts[INQUEST_STEP_TEXT_BOXES])) return bad("box directory");
    return {};
}

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (end > begin) names.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

void start_step(StepDescription& step, const StepMessage& message) {
    const inquest_step_message& fields = message.fields;
    step.job_id = fields.job_id;
    step.step_id = fields.step_id;
    step.uid = fields.uid;
    step.gid = fields.gid;
    step.node_index = fields.node_index;
    step.node_count = fields.node_count;
    step.task_count = fields.task_count;
    step.local_task_count = fields.local_task_count;
    step.stall_seconds = fields.stall_seconds;
    step.cancel_on_divergence = (fields.flags & INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE) != 0;
    step.node = message.texts[INQUEST_STEP_TEXT_NODE];
    step.nodes = message.texts[INQUEST_STEP_TEXT_NODES];
    step.report_directory = message.texts[INQUEST_STEP_TEXT_REPORT];
    step.box_directory = message.texts[INQUEST_STEP_TEXT_BOXES];
    step.injected = split_names(message.texts[INQUEST_STEP_TEXT_INJECTED]);
    step.left_alone = split_names(message.texts[INQUEST_STEP_TEXT_LEFT_ALONE]);
}

TaskRecord* find_or_add_task(StepDescription& step, const inquest_step_message& fields) {
    const auto found = std::find_if(step.tasks.begin(), step.tasks.end(),
                                    [&](const TaskRecord& record) { return record.task == fields.task; });
    if (found != step.tasks.end()) return &*found;
    if (step.tasks.size() >= kMaxTasksPerNode) return nullptr;
    TaskRecord& added = step.tasks.emplace_back();
    added.task = fields.task;
    added.pid = fields.pid;
    return &added;
}

tl::expected<void, std::string> apply_task(StepDescription& step, const inquest_step_message& fields) {
    TaskRecord* task = find_or_add_task(step, fields);
    if (task == nullptr) return bad("too many tasks");
    task->pid = fields.pid;
    if (fields.kind == INQUEST_TASK_START) {
        task->started_mono_ns = fields.mono_ns;
        return {};
    }
    task->exited_mono_ns = fields.mono_ns;
    task->exited_wall_ns = fields.wall_ns;
    task->wait_status = fields.wait_status;
    task->oom_kills = fields.oom_kills;
    return {};
}

/* An unarmed description has no box directory yet. */
bool is_started(const StepDescription& step) {
    return !step.box_directory.empty();
}

}  // namespace

tl::expected<StepMessage, std::string> parse_step_message(std::string_view bytes) {
    StepMessage message;
    if (bytes.size() < sizeof message.fields) return bad("cut off");
    std::memcpy(&message.fields, bytes.data(), sizeof message.fields);
    if (auto checked = check_fields(message.fields, bytes.size()); !checked) return bad(checked.error());
    if (message.fields.kind != INQUEST_STEP_START) return message;
    if (!split_texts(bytes.substr(sizeof message.fields, message.fields.text_bytes), message.texts))
        return bad("texts are not as many as expected");
    if (auto checked = check_texts(message); !checked) return bad(checked.error());
    return message;
}

tl::expected<void, std::string> apply_step_message(StepDescription& step, const StepMessage& message) {
    const inquest_step_message& fields = message.fields;
    if (!is_started(step)) {
        if (fields.kind != INQUEST_STEP_START) return bad("message before the start of the step");
        start_step(step, message);
        return {};
    }
    if (fields.job_id != step.job_id || fields.step_id != step.step_id) return bad("message of another step");
    if (fields.kind == INQUEST_STEP_END) step.ended = true;
    if (fields.kind == INQUEST_TASK_START || fields.kind == INQUEST_TASK_EXIT)
        return apply_task(step, fields);
    return {};
}

tl::expected<JournalContent, std::string> parse_step_journal(std::string_view bytes) {
    JournalContent content;
    if (bytes.size() > kMaxJournalBytes) content.damage.emplace_back("journal: too long, its end is ignored");
    bytes = bytes.substr(0, kMaxJournalBytes);
    size_t offset = 0;
    while (offset < bytes.size()) {
        const auto message = parse_step_message(bytes.substr(offset));
        if (!message) {
            content.damage.push_back(fmt::format("journal: byte {}: {}", offset, message.error()));
            break;
        }
        const auto applied = apply_step_message(content.step, *message);
        if (!applied) content.damage.push_back(fmt::format("journal: byte {}: {}", offset, applied.error()));
        if (applied) content.messages.emplace_back(bytes.substr(offset, message->fields.total_bytes));
        offset += message->fields.total_bytes;
    }
    if (!is_started(content.step))
        return bad(content.damage.empty() ? "journal: empty" : content.damage.front());
    return content;
}

}  // namespace inquest::harvest
