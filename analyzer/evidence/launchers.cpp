#include "analyzer/evidence/launchers.h"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace inquest::evidence {
namespace {

using model::Rank;
using Processes = std::vector<Rank>;

bool has_box(const Rank& process) {
    return process.created_wall_ns != 0;
}

// Finds processes by node and number. Of those that had one number after each other, the one that was there
// at a moment.
class ProcessIndex {
 public:
    explicit ProcessIndex(Processes& processes) {
        for (Rank& process : processes) {
            if (has_box(process)) by_number_[process.node][process.pid].push_back(&process);
        }
    }

    [[nodiscard]] Rank* find(const std::string& node, int pid, model::WallNs moment) const {
        const auto on_node = by_number_.find(node);
        if (on_node == by_number_.end()) return nullptr;
        const auto numbered = on_node->second.find(pid);
        if (numbered == on_node->second.end()) return nullptr;
        Rank* found = nullptr;
        for (Rank* process : numbered->second) {
            if (process->created_wall_ns > moment) continue;
            if (found == nullptr || found->created_wall_ns < process->created_wall_ns) found = process;
        }
        return found;
    }

    // The process that started this one, when it has a box.
    [[nodiscard]] Rank* parent_of(const Rank& process) const {
        return process.parent_pid > 0 ? find(process.node, process.parent_pid, process.created_wall_ns)
                                      : nullptr;
    }

 private:
    std::unordered_map<std::string, std::unordered_map<int, std::vector<Rank*>>> by_number_;
};

std::string text_in(const Rank& process, const std::string& variable) {
    const auto found = process.environment.find(variable);
    return found == process.environment.end() ? std::string() : found->second;
}

std::optional<int> number_in(const Rank& process, const std::string& variable) {
    const std::string text = text_in(process, variable);
    int number = -1;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && parsed == end && number >= 0 ? std::optional(number) : std::nullopt;
}

// What started a rank and may start it again: all of torchrun's agents of one run, or a parent that is no
// rank itself. Empty: nothing that is known; a rank's own helpers, whatever they call themselves, are not its
// successors.
std::string launcher_of(const Rank& process, const ProcessIndex& index) {
    if (!has_box(process) || !process.rank) return {};
    const Rank* parent = index.parent_of(process);
    if (parent != nullptr && parent->rank) return {};
    const std::string run = text_in(process, "TORCHELASTIC_RUN_ID");
    if (!run.empty()) return "run " + run;
    return parent == nullptr ? std::string() : parent->node + " " + std::to_string(parent->pid);
}

// Whether the process was still there then.
bool was_seen_at(const Rank& process, model::WallNs moment) {
    if (process.sample && process.sample->alive) return true;
    const model::WallNs gone = process.sample ? process.sample->gone_wall_ns.value_or(0) : 0;
    const bool has_own_end = process.end && process.end->pid == process.pid;
    const model::WallNs ended = has_own_end ? process.end->exited_wall_ns.value_or(0) : 0;
    return std::max({process.last_progress_wall_ns, gone, ended}) >= moment;
}

bool is_earlier(const Rank& process, model::WallNs begin) {
    return process.created_wall_ns < begin && !was_seen_at(process, begin);
}

// When the first process of a launcher's last attempt began; 0: there is only one attempt.
model::WallNs begin_of_last_attempt(const std::vector<const Rank*>& started) {
    std::map<int, model::WallNs> newest;
    for (const Rank* process : started) {
        model::WallNs& known = newest[*process->rank];
        known = std::max(known, process->created_wall_ns);
    }
    model::WallNs begin = 0;
    for (const Rank* process : started) {
        const model::WallNs successor = newest.at(*process->rank);
        if (is_earlier(*process, successor)) begin = begin == 0 ? successor : std::min(begin, successor);
    }
    return begin;
}

std::set<const Rank*> earlier_attempts(const std::vector<const Rank*>& started) {
    std::set<const Rank*> earlier;
    const model::WallNs begin = begin_of_last_attempt(started);
    for (const Rank* process : started) {
        if (begin != 0 && is_earlier(*process, begin)) earlier.insert(process);
    }
    return earlier;
}

void take_end(const model::ChildEnd& told, Rank& process) {
    model::TaskEnd end;
    end.task = process.task.value_or(-1);
    end.pid = process.pid;
    end.wait_status = told.wait_status;
    end.exited_wall_ns = told.wall_ns;
    end.was_told = told.was_told;
    end.parent_source = told.source;
    process.end = end;
}

// What the process recorded about the ends of those that it had started; of each the first.
void hand_out_ends(const Rank& parent, const ProcessIndex& index) {
    for (const model::ChildEnd& told : parent.child_ends) {
        Rank* child = index.find(parent.node, told.pid, told.wall_ns);
        if (child == nullptr || index.parent_of(*child) != &parent) continue;
        if (!child->end || !child->end->parent_source) take_end(told, *child);
    }
}

// A signal ends all processes of a task; a status is that of one. A shell hands on its child's, a launcher
// does not.
bool is_a_launchers_status(const Rank& process, const ProcessIndex& index) {
    if (!process.end || process.end->pid == process.pid) return false;
    if (!process.end->wait_status || !WIFEXITED(*process.end->wait_status)) return false;
    const model::WallNs ever = std::numeric_limits<model::WallNs>::max();
    return index.parent_of(process) != nullptr || index.find(process.node, process.end->pid, ever) != nullptr;
}

bool has_recorded_torch(const Rank& process) {
    return process.state >= INQUEST_STATE_TORCH_IMPORTED;
}

bool has_failed(const Rank& process) {
    if (process.end && process.end->wait_status.value_or(0) != 0) return true;
    if (process.exit_status.value_or(0) != 0) return true;
    return std::any_of(process.exceptions.begin(), process.exceptions.end(),
                       [](const model::ExceptionSeen& exception) { return exception.uncaught; });
}

// torchrun sets both for each worker (torch/distributed/elastic/agent/server/local_elastic_agent.py); a
// worker's own children inherit them.
std::optional<int> number_from_torchrun(const Rank& process, const ProcessIndex& index) {
    if (process.environment.count("TORCHELASTIC_RUN_ID") == 0) return std::nullopt;
    const auto number = number_in(process, "RANK");
    const Rank* parent = index.parent_of(process);
    const bool inherited = parent != nullptr && number_in(*parent, "RANK") == number;
    return inherited ? std::nullopt : number;
}

// Those that started others: by a box of theirs, or by what they recorded when one failed.
std::set<const Rank*> launchers_among(const Processes& processes, const ProcessIndex& index) {
    std::set<const Rank*> launchers;
    for (const Rank& process : processes) {
        const Rank* parent = has_box(process) ? index.parent_of(process) : nullptr;
        if (parent != nullptr) launchers.insert(parent);
        const auto& ends = process.child_ends;
        if (std::any_of(ends.begin(), ends.end(), [](const model::ChildEnd& end) { return !end.was_told; }))
            launchers.insert(&process);
    }
    return launchers;
}

std::map<int, int> count_torch_processes(const Processes& processes) {
    std::map<int, int> of_task;
    for (const Rank& process : processes) {
        if (process.task && has_recorded_torch(process)) of_task[*process.task]++;
    }
    return of_task;
}

}  // namespace

void leave_out_earlier_attempts(Processes& processes) {
    const ProcessIndex index(processes);
    std::map<std::string, std::vector<const Rank*>> started;
    for (const Rank& process : processes) {
        const std::string launcher = launcher_of(process, index);
        if (!launcher.empty()) started[launcher].push_back(&process);
    }
    std::set<const Rank*> earlier;
    for (const auto& [launcher, ranks] : started)
        earlier.merge(earlier_attempts(ranks));
    Processes kept;
    kept.reserve(processes.size());
    for (Rank& process : processes) {
        if (earlier.count(&process) == 0) kept.push_back(std::move(process));
    }
    processes = std::move(kept);
}

void take_ends_from_parents(Processes& processes) {
    const ProcessIndex index(processes);
    for (const Rank& process : processes)
        hand_out_ends(process, index);
    for (Rank& process : processes) {
        if (is_a_launchers_status(process, index)) process.end.reset();
    }
}

void number_failed_ranks(Processes& processes) {
    const ProcessIndex index(processes);
    const auto launchers = launchers_among(processes, index);
    const auto torch_processes = count_torch_processes(processes);
    std::set<int> taken;
    for (const Rank& process : processes) {
        if (process.rank) taken.insert(*process.rank);
    }
    for (Rank& process : processes) {
        if (process.rank || !has_failed(process)) continue;
        const auto launched = number_from_torchrun(process, index);
        const bool is_alone = process.task && process.end && has_recorded_torch(process) &&
                              launchers.count(&process) == 0 && torch_processes.at(*process.task) == 1;
        const auto number = launched || !is_alone ? launched : process.task;
        if (!number || !taken.insert(*number).second) continue;
        process.rank = number;
        if (launched && !process.world_size) process.world_size = number_in(process, "WORLD_SIZE");
    }
}

}  // namespace inquest::evidence
