/* Writes step journals as the plugin does (spank/format/step_journal.h). */
#pragma once

#include <unistd.h>
#include <cstdint>

#include <array>
#include <string>

#include "spank/format/step_journal.h"

namespace inquest::epilog {

inline std::string message_bytes(inquest_step_message fields, const std::string& texts = {}) {
    fields.magic = INQUEST_STEP_MESSAGE_MAGIC;
    fields.version = INQUEST_STEP_MESSAGE_VERSION;
    fields.text_bytes = static_cast<std::uint32_t>(texts.size());
    fields.total_bytes = static_cast<std::uint32_t>(sizeof fields + texts.size());
    return std::string(reinterpret_cast<const char*>(&fields), sizeof fields) + texts;
}

struct JournalSketch {
    std::uint32_t job_id = 7;
    std::uint32_t step_id = 0;
    std::uint32_t node_index = 0;
    std::string node = "n1";
    std::string nodes = "n1";
    std::string report = "/home/ada/inquest-7";
    std::uint64_t start_wall_ns = 1'000'000'000'000;
    std::uint32_t uid = geteuid();
};

inline inquest_step_message fields_of(const JournalSketch& sketch, std::uint16_t kind,
                                      std::uint64_t wall_ns) {
    inquest_step_message fields{};
    fields.kind = kind;
    fields.job_id = sketch.job_id;
    fields.step_id = sketch.step_id;
    fields.uid = sketch.uid;
    fields.gid = getegid();
    fields.node_index = sketch.node_index;
    fields.node_count = 1;
    fields.task_count = 1;
    fields.local_task_count = 1;
    fields.task = INQUEST_STEP_TASK_NONE;
    fields.wall_ns = wall_ns;
    return fields;
}

inline std::string step_start(const JournalSketch& sketch) {
    std::string texts;
    const std::array<std::string, INQUEST_STEP_TEXTS> all = {sketch.node,   sketch.nodes, sketch.report,
                                                             "/run/none/7", "",           ""};
    for (const std::string& text : all)
        texts += text + '\0';
    return message_bytes(fields_of(sketch, INQUEST_STEP_START, sketch.start_wall_ns), texts);
}

inline std::string task_exit(const JournalSketch& sketch, std::int32_t task, std::int32_t wait_status,
                             std::uint64_t wall_ns) {
    inquest_step_message fields = fields_of(sketch, INQUEST_TASK_EXIT, wall_ns);
    fields.task = task;
    fields.pid = 100 + task;
    fields.wait_status = wait_status;
    return message_bytes(fields);
}

inline std::string step_end(const JournalSketch& sketch, std::uint64_t wall_ns) {
    return message_bytes(fields_of(sketch, INQUEST_STEP_END, wall_ns));
}

}  // namespace inquest::epilog
