#include "spank/harvest/earlier_harvest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spank/harvest/box_files.h"
#include "spank/harvest/file_access.h"

namespace inquest::harvest {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNodeJsonBytes = size_t{4} * 1024 * 1024;

std::optional<uint64_t> number(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
    return found->get<uint64_t>();
}

std::optional<char> letter(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    const auto& text = found->get_ref<const std::string&>();
    return text.size() == 1 ? std::optional(text.front()) : std::nullopt;
}

std::optional<ProcessRecord> process_of(const Json& object) {
    if (!object.is_object()) return std::nullopt;
    const auto pid = number(object, "pid");
    const auto start = number(object, "start");
    if (!pid || !start || *pid > INT32_MAX) return std::nullopt;
    ProcessRecord record;
    record.process = {static_cast<int32_t>(*pid), *start};
    record.state = letter(object, "state");
    record.gone_mono_ns = number(object, "gone_mono_ns");
    record.calls_begun = number(object, "calls_begun");
    record.cpu_ns = number(object, "cpu_ns");
    record.cpu_after_ns = number(object, "cpu_after_ns");
    record.cpu_interval_ns = number(object, "cpu_interval_ns");
    record.bytes_written = number(object, "bytes_written");
    record.bytes_written_after = number(object, "bytes_written_after");
    return record;
}

ProcessRecord* find_process(std::vector<ProcessRecord>& records, const ProcessIdentity& process) {
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const ProcessRecord& record) { return record.process == process; });
    return found == records.end() ? nullptr : &*found;
}

void keep_sample(const ProcessRecord& earlier, ProcessRecord& record) {
    record.state = earlier.state;
    record.cpu_ns = earlier.cpu_ns;
    record.cpu_after_ns = earlier.cpu_after_ns;
    record.cpu_interval_ns = earlier.cpu_interval_ns;
    record.bytes_written = earlier.bytes_written;
    record.bytes_written_after = earlier.bytes_written_after;
}

/* Returns whether the process has begun a call since. */
bool keep_process(const ProcessRecord& earlier, NodeFacts& facts) {
    ProcessRecord* record = find_process(facts.processes, earlier.process);
    if (record == nullptr) {
        if (facts.processes.size() < kMaxBoxes) facts.processes.push_back(earlier);
        return false;
    }
    if (!record->cpu_after_ns && earlier.cpu_after_ns) keep_sample(earlier, *record);
    if (!record->alive && !record->gone_mono_ns) record->gone_mono_ns = earlier.gone_mono_ns;
    return record->calls_begun != earlier.calls_begun;
}

}  // namespace

NodeFacts read_earlier_harvest(int node_directory_fd) {
    NodeFacts facts;
    const auto text = read_regular_file(node_directory_fd, "node.json", kMaxNodeJsonBytes, KeptEnd::head);
    const Json node = text ? Json::parse(text->bytes, nullptr, false) : Json();
    if (!node.is_object()) return facts;
    facts.stalled_since_mono_ns = number(node, "stalled_since_mono_ns");
    facts.divergence_noticed_mono_ns = number(node, "divergence_noticed_mono_ns");
    const auto cancelled = node.find("cancelled_for_divergence");
    facts.cancelled_for_divergence = cancelled != node.end() && *cancelled == true;
    const auto processes = node.find("processes");
    if (processes == node.end() || !processes->is_array()) return facts;
    for (const Json& object : *processes)
        if (const auto record = process_of(object); record && facts.processes.size() < kMaxBoxes)
            facts.processes.push_back(*record);
    return facts;
}

void keep_earlier_facts(const NodeFacts& earlier, NodeFacts& facts) {
    bool progressed = false;
    for (const ProcessRecord& record : earlier.processes)
        progressed = keep_process(record, facts) || progressed;
    if (!facts.stalled_since_mono_ns && !progressed)
        facts.stalled_since_mono_ns = earlier.stalled_since_mono_ns;
    facts.cancelled_for_divergence = facts.cancelled_for_divergence || earlier.cancelled_for_divergence;
    if (!facts.divergence_noticed_mono_ns)
        facts.divergence_noticed_mono_ns = earlier.divergence_noticed_mono_ns;
}

}  // namespace inquest::harvest
