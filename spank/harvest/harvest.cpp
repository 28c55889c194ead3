#include "spank/harvest/harvest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "spank/harvest/box_files.h"
#include "spank/harvest/earlier_harvest.h"
#include "spank/harvest/file_access.h"
#include "spank/harvest/report_directory.h"
#include "spank/harvest/stack_request.h"
#include "spank/harvest/worker_server.h"

namespace inquest::harvest {
namespace {

constexpr uint64_t kNsPerSecond = 1000000000U;
constexpr uint64_t kSampleIntervalNs = kNsPerSecond;
constexpr uint64_t kStackWaitNs = 2U * kNsPerSecond;
constexpr uint64_t kFlightWaitNs = 2U * kNsPerSecond;
constexpr size_t kMaxStackBytes = size_t{1024} * 1024;
constexpr size_t kMaxNcclDebugBytes = size_t{256} * 1024;
constexpr int kMaxNcclDebugFiles = 256;
constexpr size_t kMaxAllTablesBytes = size_t{64} * 1024 * 1024; /* of the node, compressed */

/* Only a rank that is past its start and not yet ending is asked for stacks. A signal ends connect, poll and
 * nanosleep with EINTR even where the handler asks for a restart (signal(7)): while torch connects to its
 * store that shows as warnings with stack traces in the user's output. What a rank waits in later (a
 * condition variable, a read from the store, an epoll loop) is restarted or tried again. While the
 * interpreter ends, the handler may be taken away between the look at it and the signal, which would then
 * kill. */
bool may_be_asked(const inquest_box_live& live) {
    return live.state >= INQUEST_STATE_GROUP_READY && live.state < INQUEST_STATE_EXITING;
}

/* One harvest in progress: the steps in the order of run(). */
class Harvester {
 public:
    Harvester(const HarvestRequest& request, const HarvestSystem& system)
        : request_(request), system_(system), logs_(request.logs) {
        facts_.reason = request.reason;
        facts_.stalled_since_mono_ns = request.stalled_since_mono_ns;
        facts_.divergence_noticed_mono_ns = request.divergence_noticed_mono_ns;
        facts_.cancelled_for_divergence = request.cancelled_for_divergence;
        facts_.damage = request.damage;
    }

    tl::expected<HarvestResult, std::string> run() {
        if (auto opened = open_directories(); !opened) return tl::make_unexpected(opened.error());
        list_processes();
        take_first_samples();
        ask_for_stacks();
        ask_for_flight_records();
        copy_files();
        copy_logs();
        take_second_samples();
        keep_earlier_facts(read_earlier_harvest(node_directory_.get()), facts_);
        return write_node_json();
    }

 private:
    tl::expected<void, std::string> open_directories() {
        boxes_directory_ = open_directory(request_.step.box_directory);
        if (!boxes_directory_.valid()) note("box directory: " + errno_text());
        if (boxes_directory_.valid()) names_ = list_directory(boxes_directory_.get(), kMaxDirectoryEntries);
        auto evidence = open_evidence();
        if (!evidence) return tl::make_unexpected(evidence.error());
        auto node = make_directory_at(evidence->get(), request_.step.node);
        if (!node)
            return tl::make_unexpected(fmt::format("evidence of {}: {}", request_.step.node, node.error()));
        node_directory_ = std::move(*node);
        return {};
    }

    tl::expected<UniqueFd, std::string> open_evidence() {
        if (request_.may_make_directories) return make_step_evidence(request_.step);
        UniqueFd evidence = open_step_evidence(request_.step);
        if (!evidence.valid()) return tl::make_unexpected("nobody wants it: " + errno_text());
        return evidence;
    }

    void list_processes() {
        for (const BoxFile& box : find_boxes(names_)) {
            ProcessRecord record;
            record.process = box.process;
            const auto gone = request_.gone_mono_ns.find(box.process);
            if (gone != request_.gone_mono_ns.end()) record.gone_mono_ns = gone->second;
            const auto live = read_live_counters_of(boxes_directory_.get(), box.name);
            if (live) record.calls_begun = live->collectives_begun + live->backward_begun + live->step;
            if (live && live->rank >= 0) ranks_.emplace(box.process, live->rank);
            facts_.processes.push_back(record);
        }
    }

    void take_first_samples() {
        first_sample_mono_ns_ = system_.mono_ns();
        for (ProcessRecord& record : facts_.processes) {
            const auto stat = find_living(system_.proc_root, record.process);
            record.alive = stat.has_value();
            if (!stat) continue;
            record.state = stat->state;
            record.cpu_ns = stat->cpu_ns;
            record.bytes_written = read_bytes_written(system_.proc_root, record.process.pid);
        }
    }

    /* The stacks and flight recorders are waited for in the meantime; only what is left of the interval is
     * slept. */
    void take_second_samples() {
        if (std::none_of(facts_.processes.begin(), facts_.processes.end(), [&](const ProcessRecord& record) {
                return record.cpu_ns && find_living(system_.proc_root, record.process);
            }))
            return;
        const uint64_t until = std::min(first_sample_mono_ns_ + kSampleIntervalNs, request_.deadline_mono_ns);
        const uint64_t now = system_.mono_ns();
        if (now < until) system_.sleep_ns(until - now);
        for (ProcessRecord& record : facts_.processes) {
            const auto stat = find_living(system_.proc_root, record.process);
            if (!record.cpu_ns || !stat) continue;
            record.cpu_after_ns = stat->cpu_ns;
            record.cpu_interval_ns = system_.mono_ns() - first_sample_mono_ns_;
            record.bytes_written_after = read_bytes_written(system_.proc_root, record.process.pid);
        }
    }

    [[nodiscard]] uint64_t deadline_after(uint64_t wait_ns) const {
        return std::min(system_.mono_ns() + wait_ns, request_.deadline_mono_ns);
    }

    void ask_for_stacks() {
        std::vector<StackRequest> requests;
        for (const ProcessRecord& record : facts_.processes) {
            if (!record.alive) continue;
            const std::string box = fmt::format("box-{}.ibb", identity_text(record.process));
            const auto live = read_live_counters_of(boxes_directory_.get(), box);
            if (live && may_be_asked(*live)) requests.push_back({record.process, live->stack_signal});
        }
        for (std::string& line :
             request_stacks(boxes_directory_.get(), requests, deadline_after(kStackWaitNs), system_))
            note(std::move(line));
    }

    [[nodiscard]] bool is_alive(const ProcessIdentity& process) const {
        return std::any_of(
            facts_.processes.begin(), facts_.processes.end(),
            [&](const ProcessRecord& record) { return record.alive && record.process == process; });
    }

    void ask_for_flight_records() {
        std::vector<ProcessIdentity> owners;
        std::vector<std::string> sockets;
        for (const std::string& name : names_) {
            const auto owner = identity_from_name(name, "worker-", ".sock");
            if (!owner || !is_alive(*owner)) continue;
            owners.push_back(*owner);
            sockets.push_back(name);
        }
        request_flight_records(boxes_directory_.get(), sockets, deadline_after(kFlightWaitNs),
                               system_.mono_ns,
                               [&](size_t index, const tl::expected<std::string, std::string>& body) {
                                   const std::string name = "flight-" + identity_text(owners[index]);
                                   write_or_note(name + ".json", body);
                               });
    }

    /* The directory is listed anew: asking may have made files. */
    void copy_files() {
        if (!boxes_directory_.valid()) return;
        for (const std::string& name : list_directory(boxes_directory_.get(), kMaxDirectoryEntries))
            copy_file(name);
    }

    /* Copies a file of the box directory if it is evidence. */
    void copy_file(const std::string& name) {
        if (identity_from_name(name, "box-", ".ibb"))
            copy_box(name);
        else if (identity_from_name(name, "tensors-", ".ibt"))
            copy_tensor_table(name);
        else if (identity_from_name(name, "stack-", ".txt"))
            copy_plain(name, name, kMaxStackBytes, KeptEnd::tail);
        else if (name.starts_with("nccl_debug-") && name.ends_with(".txt"))
            copy_nccl_debug(name);
        else if (const auto owner = flight_pickle_owner(name))
            copy_plain(name, fmt::format("flight-{}.pickle", identity_text(*owner)), kMaxFlightBytes,
                       KeptEnd::head);
    }

    void copy_box(const std::string& name) {
        if (result_.boxes == kMaxBoxes) return note(name + ": too many boxes");
        if (!read_live_counters_of(boxes_directory_.get(), name)) note(name + ": box was never finished");
        result_.boxes++;
        write_copy(name, compress_file(boxes_directory_.get(), name, kMaxBoxBytes));
    }

    /* Not while ranks hang: harvests of a stall come one after the other, and the tables tell nothing of it.
     */
    void copy_tensor_table(const std::string& name) {
        if (request_.reason == Reason::stall) return;
        if (tables_left_bytes_ == 0) return note(name + ": too many tensor tables");
        const auto table = compress_file(boxes_directory_.get(), name, kMaxTableBytes);
        if (table) tables_left_bytes_ -= std::min(tables_left_bytes_, table->size());
        write_copy(name, table);
    }

    /* One that could not be made leaves the earlier in its place. */
    void write_copy(const std::string& name, const tl::expected<std::string, std::string>& compressed) {
        if (compressed) keep_analysed(name);
        write_or_note(name + ".zst", compressed);
    }

    /* The first copies that were analysed stay: they hold the oldest records. */
    void keep_analysed(const std::string& name) {
        const size_t dot = name.rfind('.');
        const std::string kept = name.substr(0, dot) + ".analysed" + name.substr(dot) + ".zst";
        const int directory = node_directory_.get();
        if (!request_.keeps_analysed || faccessat(directory, kept.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return;
        renameat(directory, (name + ".zst").c_str(), directory, kept.c_str()); /* fails when there is none */
    }

    /* NCCL names its file by host and process itself (configs/settings/nccl-debug.yaml). */
    void copy_nccl_debug(const std::string& name) {
        if (nccl_debug_files_++ == kMaxNcclDebugFiles) note("nccl_debug: too many files");
        if (nccl_debug_files_ <= kMaxNcclDebugFiles)
            copy_plain(name, name, kMaxNcclDebugBytes, KeptEnd::tail);
    }

    /* torch appends the global rank to the file name that it was given (FlightRecorder.cpp):
     * "nccl_trace_rank_3". The newest box of that rank names the process. */
    [[nodiscard]] std::optional<ProcessIdentity> flight_pickle_owner(const std::string& name) const {
        std::optional<ProcessIdentity> owner;
        for (const auto& [process, rank] : ranks_) {
            const bool is_newer = !owner || process.start_time_ticks > owner->start_time_ticks;
            if (is_newer && name == fmt::format("nccl_trace_rank_{}", rank)) owner = process;
        }
        return owner;
    }

    void copy_plain(const std::string& from, const std::string& to, size_t limit, KeptEnd kept) {
        const auto file = read_regular_file(boxes_directory_.get(), from, limit, kept);
        if (!file) return note(fmt::format("{}: {}", from, file.error()));
        if (file->cut) note(fmt::format("{}: only {} bytes kept", from, limit));
        if (!file->bytes.empty()) write_or_note(to, file->bytes);
    }

    void copy_logs() {
        for (const ProcessRecord& record : facts_.processes)
            if (record.alive) add_log_files(logs_, system_.proc_root, record.process.pid);
        const std::vector<std::string> names = evidence_names(logs_);
        for (size_t at = 0; at < logs_.size(); at++)
            write_or_note(names[at], read_log_tail(logs_[at]));
    }

    void write_or_note(const std::string& name, const tl::expected<std::string, std::string>& bytes) {
        if (!bytes) return note(fmt::format("{}: {}", name, bytes.error()));
        const auto written = write_file_atomically(node_directory_.get(), name, *bytes);
        if (!written) note(fmt::format("{}: {}", name, written.error()));
    }

    void note(std::string line) { facts_.damage.push_back(std::move(line)); }

    tl::expected<HarvestResult, std::string> write_node_json() {
        facts_.collected_mono_ns = system_.mono_ns();
        facts_.collected_wall_ns = system_.wall_ns();
        const auto written = write_file_atomically(node_directory_.get(), "node.json",
                                                   render_node_json(request_.step, facts_));
        if (!written) return tl::make_unexpected("node.json: " + written.error());
        result_.damage = std::move(facts_.damage);
        return result_;
    }

    const HarvestRequest& request_;
    const HarvestSystem& system_;
    UniqueFd boxes_directory_;
    UniqueFd node_directory_;
    std::vector<std::string> names_;
    std::vector<LogFile> logs_;
    std::map<ProcessIdentity, int32_t> ranks_;
    NodeFacts facts_;
    HarvestResult result_;
    size_t tables_left_bytes_ = kMaxAllTablesBytes;
    uint64_t first_sample_mono_ns_ = 0;
    int nccl_debug_files_ = 0;
};

}  // namespace

tl::expected<HarvestResult, std::string> harvest_node(const HarvestRequest& request,
                                                      const HarvestSystem& system) {
    return Harvester(request, system).run();
}

}  // namespace inquest::harvest
