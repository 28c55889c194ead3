#include "analyzer/evidence/launchers.h"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace inquest::evidence {
namespace {

using model::Rank;
using Processes = std::vector<Rank>;

bool has_ended_before(const Rank& process, model::WallNs moment) {
    const bool alive = process.sample && process.sample->alive;
    return !alive && process.created_wall_ns < moment && process.last_progress_wall_ns < moment;
}

// The last process of each rank.
std::map<int, const Rank*> newest_of_each_rank(const Processes& processes) {
    std::map<int, const Rank*> newest;
    for (const Rank& process : processes) {
        if (!process.rank) continue;
        const Rank*& known = newest[*process.rank];
        if (known == nullptr || known->created_wall_ns < process.created_wall_ns) known = &process;
    }
    return newest;
}

// When the first process of the last attempt began; 0: there is only one attempt.
model::WallNs begin_of_last_attempt(const Processes& processes) {
    const auto newest = newest_of_each_rank(processes);
    model::WallNs begin = 0;
    for (const Rank& process : processes) {
        if (!process.rank) continue;
        const model::WallNs successor = newest.at(*process.rank)->created_wall_ns;
        if (has_ended_before(process, successor)) begin = begin == 0 ? successor : std::min(begin, successor);
    }
    return begin;
}

// The process that started this one, when it has a box.
const Rank* parent_of(const Rank& process, const Processes& processes) {
    const Rank* parent = nullptr;
    for (const Rank& other : processes) {
        if (other.pid != process.parent_pid || other.node != process.node) continue;
        if (other.created_wall_ns > process.created_wall_ns) continue;  // the number was used again
        if (parent == nullptr || parent->created_wall_ns < other.created_wall_ns) parent = &other;
    }
    return process.parent_pid > 0 ? parent : nullptr;
}

const model::ChildEnd* end_told_by(const Rank& parent, const Rank& process) {
    const auto found =
        std::find_if(parent.child_ends.begin(), parent.child_ends.end(), [&](const model::ChildEnd& end) {
            return end.pid == process.pid && end.wall_ns >= process.created_wall_ns;
        });
    return found == parent.child_ends.end() ? nullptr : &*found;
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

bool has_own_box(const Processes& processes, const std::string& node, int pid) {
    return std::any_of(processes.begin(), processes.end(), [&](const Rank& process) {
        return process.node == node && process.pid == pid && process.created_wall_ns != 0;
    });
}

// A signal ends all processes of a task; a status is that of one. A shell hands on its child's, a launcher
// does not.
bool is_a_launchers_status(const Rank& process, const Processes& processes) {
    if (!process.end || process.end->pid == process.pid) return false;
    if (!process.end->wait_status || !WIFEXITED(*process.end->wait_status)) return false;
    return parent_of(process, processes) != nullptr || has_own_box(processes, process.node, process.end->pid);
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

std::optional<int> number_in(const Rank& process, const std::string& variable) {
    const auto found = process.environment.find(variable);
    if (found == process.environment.end()) return std::nullopt;
    int number = -1;
    const char* end = found->second.data() + found->second.size();
    const auto [parsed, error] = std::from_chars(found->second.data(), end, number);
    return error == std::errc() && parsed == end && number >= 0 ? std::optional(number) : std::nullopt;
}

// torchrun sets both for each worker (torch/distributed/elastic/agent/server/local_elastic_agent.py); a
// worker's own children inherit them.
std::optional<int> number_from_torchrun(const Rank& process, const Processes& processes) {
    if (process.environment.count("TORCHELASTIC_RUN_ID") == 0) return std::nullopt;
    const auto number = number_in(process, "RANK");
    const Rank* parent = parent_of(process, processes);
    const bool inherited = parent != nullptr && number_in(*parent, "RANK") == number;
    return inherited ? std::nullopt : number;
}

// Not where several processes of the task recorded something: then a launcher made the ranks.
std::optional<int> number_from_slurm(const Rank& process, const Processes& processes) {
    if (!process.task || !process.end || !has_recorded_torch(process) || !process.child_ends.empty())
        return std::nullopt;
    const bool alone = std::none_of(processes.begin(), processes.end(), [&](const Rank& other) {
        return &other != &process && other.task == process.task && other.created_wall_ns != 0;
    });
    return alone ? process.task : std::nullopt;
}

}  // namespace

void leave_out_earlier_attempts(Processes& processes) {
    const model::WallNs begin = begin_of_last_attempt(processes);
    if (begin == 0) return;
    processes.erase(std::remove_if(processes.begin(), processes.end(),
                                   [begin](const Rank& process) { return has_ended_before(process, begin); }),
                    processes.end());
}

void take_ends_from_parents(Processes& processes) {
    for (Rank& process : processes) {
        const Rank* parent = parent_of(process, processes);
        const model::ChildEnd* told = parent == nullptr ? nullptr : end_told_by(*parent, process);
        if (told != nullptr) take_end(*told, process);
        if (is_a_launchers_status(process, processes)) process.end.reset();
    }
}

void number_failed_ranks(Processes& processes) {
    std::set<int> taken;
    for (const Rank& process : processes) {
        if (process.rank) taken.insert(*process.rank);
    }
    for (Rank& process : processes) {
        if (process.rank || !has_failed(process)) continue;
        const auto launched = number_from_torchrun(process, processes);
        const auto number = launched ? launched : number_from_slurm(process, processes);
        if (!number || !taken.insert(*number).second) continue;
        process.rank = number;
        if (launched && !process.world_size) process.world_size = number_in(process, "WORLD_SIZE");
    }
}

}  // namespace inquest::evidence
