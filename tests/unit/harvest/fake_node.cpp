#include "tests/unit/harvest/fake_node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace inquest::test {

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "inquest-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void append_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

std::string read_file(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

inquest_box_live live_of_rank(int32_t rank) {
    inquest_box_live live{};
    live.rank = rank;
    live.world_size = 4;
    live.state = INQUEST_STATE_GROUP_READY;
    live.stack_signal = 40;
    return live;
}

std::string box_bytes(const harvest::ProcessIdentity& process, const inquest_box_live& live) {
    std::string bytes(INQUEST_BOX_TOTAL_BYTES, '\0');
    inquest_box_header header{};
    std::memcpy(header.magic, INQUEST_BOX_MAGIC, sizeof header.magic);
    header.version = INQUEST_BOX_VERSION;
    header.byte_order = INQUEST_BOX_BYTE_ORDER;
    header.total_bytes = INQUEST_BOX_TOTAL_BYTES;
    header.pid = process.pid;
    header.start_time_ticks = process.start_time_ticks;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + INQUEST_BOX_LIVE_OFFSET, &live, sizeof live);
    return bytes;
}

std::string message_bytes(inquest_step_message fields, const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts)
        joined += text + '\0';
    fields.magic = INQUEST_STEP_MESSAGE_MAGIC;
    fields.version = INQUEST_STEP_MESSAGE_VERSION;
    fields.text_bytes = static_cast<uint32_t>(joined.size());
    fields.total_bytes = static_cast<uint32_t>(sizeof fields + joined.size());
    std::string bytes(sizeof fields, '\0');
    std::memcpy(bytes.data(), &fields, sizeof fields);
    return bytes + joined;
}

FakeNode::FakeNode() {
    std::filesystem::create_directory(boxes());
    std::filesystem::create_directory(proc());
    std::filesystem::create_directory(root() / "work");
}

harvest::StepDescription FakeNode::step() const {
    harvest::StepDescription step;
    step.job_id = 7;
    step.uid = getuid();
    step.gid = getgid();
    step.node_index = node_index;
    step.node_count = node_count;
    step.task_count = node_count * local_task_count;
    step.local_task_count = local_task_count;
    step.stall_seconds = stall_seconds;
    step.node = fmt::format("n{}", node_index + 1);
    step.nodes = fmt::format("n[1-{}]", node_count);
    step.report_directory = report();
    step.box_directory = boxes();
    return step;
}

inquest_step_message FakeNode::fields(uint16_t kind) const {
    const harvest::StepDescription described = step();
    inquest_step_message fields{};
    fields.kind = kind;
    fields.job_id = described.job_id;
    fields.step_id = described.step_id;
    fields.uid = described.uid;
    fields.gid = described.gid;
    fields.node_index = described.node_index;
    fields.node_count = described.node_count;
    fields.task_count = described.task_count;
    fields.local_task_count = described.local_task_count;
    fields.stall_seconds = described.stall_seconds;
    fields.flags = flags;
    fields.task = INQUEST_STEP_TASK_NONE;
    fields.mono_ns = mono_ns;
    fields.wall_ns = wall_ns;
    return fields;
}

std::string FakeNode::start_message() const {
    const harvest::StepDescription described = step();
    return message_bytes(fields(INQUEST_STEP_START),
                         {described.node, described.nodes, described.report_directory,
                          described.box_directory, "PYTHONFAULTHANDLER", ""});
}

std::string FakeNode::task_message(uint16_t kind, int32_t task, int32_t pid, int32_t wait_status) const {
    inquest_step_message message = fields(kind);
    message.task = task;
    message.pid = pid;
    message.wait_status = wait_status;
    return message_bytes(message);
}

std::string FakeNode::plain_message(uint16_t kind) const {
    return message_bytes(fields(kind));
}

void FakeNode::write_process(const harvest::ProcessIdentity& process, char state, uint64_t caught_signals) {
    const std::filesystem::path directory = proc() / std::to_string(process.pid);
    std::filesystem::create_directories(directory / "fd");
    write_file(directory / "stat",
               fmt::format("{} (py (thon) {}) {} 1 1 1 0 -1 4194304 0 0 0 0 150 50 0 0 20 0 1 0 {} 0 0\n",
                           process.pid, process.pid, state, process.start_time_ticks));
    write_file(directory / "status",
               fmt::format("Name:\tpython\nUid:\t{0}\t{0}\t{0}\t{0}\nSigCgt:\t{1:016x}\n", getuid(),
                           caught_signals));
    write_file(directory / "io", "rchar: 1\nwchar: 4096\n");
}

void FakeNode::remove_process(const harvest::ProcessIdentity& process) {
    std::filesystem::remove_all(proc() / std::to_string(process.pid));
}

void FakeNode::write_box(const harvest::ProcessIdentity& process, const inquest_box_live& live) {
    write_file(boxes() / fmt::format("box-{}.ibb", identity_text(process)), box_bytes(process, live));
}

harvest::HarvestSystem FakeNode::system() {
    harvest::HarvestSystem system;
    system.mono_ns = [this] { return mono_ns; };
    system.wall_ns = [this] { return wall_ns; };
    system.sleep_ns = [this](uint64_t duration_ns) {
        mono_ns += duration_ns;
        wall_ns += duration_ns;
    };
    system.send_signal = [this](const harvest::ProcessIdentity& process, int signal) {
        signals.emplace_back(process, signal);
        if (answers_signals)
            append_file(boxes() / fmt::format("stack-{}.txt", identity_text(process)), "Thread 0x1\n");
        return true;
    };
    system.proc_root = proc();
    return system;
}

}  // namespace inquest::test
