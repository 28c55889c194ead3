#include "analyzer/evidence/assemble.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/launchers.h"
#include "analyzer/evidence/log_time.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

std::string last_part(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

template <typename T>
void set_once(std::optional<T>& field, const std::optional<T>& value) {
    if (!field) field = value;
}

// One node's folder: its processes become ranks.
class FolderJoiner {
 public:
    FolderJoiner(NamedFolder& folder, model::Timeline& timeline, Notes& notes)
        : folder_(folder.evidence), path_(folder.path), timeline_(timeline), notes_(notes) {}

    void join() {
        if (folder_.is_node_folder()) add_node();
        for (BoxEvidence& box : folder_.boxes)
            add_box(std::move(box));
        add_processes_without_box();
        for (model::LogFile& log : folder_.logs)
            timeline_.logs.push_back(std::move(log));
        for (model::FlightRecord& flight : folder_.flights) {
            timeline_.unattached_flights.push_back(std::move(flight));
        }
        for (model::PythonStack& stack : folder_.stacks)
            add_lone_stack(std::move(stack));
    }

 private:
    void add_node() {
        if (!folder_.node) {
            model::Node node;
            node.name = folder_.boxes.empty() ? last_part(path_) : folder_.boxes.front().rank.node;
            node.source.source = path_;
            notes_.add(path_, "node.json is missing: the node's evidence is not complete");
            node_name_ = node.name;
            timeline_.nodes.push_back(std::move(node));
            return;
        }
        NodeEvidence& evidence = *folder_.node;
        if (evidence.node.name.empty()) evidence.node.name = last_part(path_);
        node_name_ = evidence.node.name;
        set_once(timeline_.job, evidence.job);
        set_once(timeline_.step, evidence.step);
        set_once(timeline_.node_count, evidence.node_count);
        set_once(timeline_.task_count, evidence.task_count);
        if (!timeline_.injected) timeline_.injected.emplace();
        for (const std::string& name : evidence.injected) {
            auto& names = *timeline_.injected;
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
        timeline_.nodes.push_back(evidence.node);
    }

    void add_box(BoxEvidence box) {
        set_once(timeline_.job, box.job);
        set_once(timeline_.step, box.step);
        if (!node_name_.empty()) box.rank.node = node_name_;
        with_box_.insert({box.rank.pid, box.rank.start_time_ticks});
        finish_rank(std::move(box.rank));
    }

    void add_processes_without_box() {
        std::set<ProcessKey> keys;
        for (const auto& [key, evidence] : folder_.processes)
            keys.insert(key);
        if (folder_.node) {
            for (const auto& [key, sample] : folder_.node->processes)
                keys.insert(key);
        }
        for (const ProcessKey& key : keys) {
            if (with_box_.count(key) != 0) continue;
            notes_.add(path_, "process without a readable black box", "pid " + std::to_string(key.first));
            model::Rank rank;
            rank.pid = key.first;
            rank.start_time_ticks = key.second;
            rank.node = node_name_;
            rank.source.source = path_;
            finish_rank(std::move(rank));
        }
    }

    void finish_rank(model::Rank rank) {
        const ProcessKey key(rank.pid, rank.start_time_ticks);
        if (const auto found = folder_.processes.find(key); found != folder_.processes.end()) {
            rank.flight = std::move(found->second.flight);
            rank.stack = std::move(found->second.stack);
            rank.replica.table = std::move(found->second.table);
            if (rank.flight) rank.flight->rank = rank.rank;
        }
        if (folder_.node) add_node_facts(key, rank);
        timeline_.ranks.push_back(std::move(rank));
    }

    void add_node_facts(const ProcessKey& key, model::Rank& rank) const {
        const auto& samples = folder_.node->processes;
        if (const auto sample = samples.find(key); sample != samples.end()) rank.sample = sample->second;
        const auto& tasks = folder_.node->node.tasks;
        auto task = std::find_if(tasks.begin(), tasks.end(),
                                 [&](const model::TaskEnd& end) { return end.pid == rank.pid; });
        if (task == tasks.end() && rank.task) {
            task = std::find_if(tasks.begin(), tasks.end(),
                                [&](const model::TaskEnd& end) { return end.task == *rank.task; });
        }
        if (task == tasks.end()) return;
        rank.end = *task;
        if (!rank.task && task->task >= 0) rank.task = task->task;
    }

    void add_lone_stack(model::PythonStack stack) {
        model::Rank rank;
        rank.rank = rank_from_file_name(stack.source.source);
        rank.source = stack.source;
        rank.stack = std::move(stack);
        timeline_.ranks.push_back(std::move(rank));
    }

    FolderEvidence& folder_;
    const std::string& path_;
    model::Timeline& timeline_;
    Notes& notes_;
    std::string node_name_;
    std::set<ProcessKey> with_box_;
};

// Dumps that say their rank go to the process of that rank when it has none; of several the richest counts.
void attach_flights(model::Timeline& timeline, Notes& notes) {
    std::map<int, model::Rank*> by_rank;
    for (model::Rank& rank : timeline.ranks) {
        if (rank.rank && !rank.flight) by_rank.emplace(*rank.rank, &rank);
    }
    std::map<int, size_t> kept_at;
    std::vector<model::FlightRecord> kept;
    for (model::FlightRecord& flight : timeline.unattached_flights) {
        const auto [at, is_new] = kept_at.emplace(flight.rank.value_or(-1), kept.size());
        if (is_new || !flight.rank) {
            kept.push_back(std::move(flight));
            continue;
        }
        model::FlightRecord& other = kept[at->second];
        if (is_richer(flight, other)) std::swap(flight, other);
        notes.add(flight.source.source, "second flight recorder of one rank, left out");
    }
    timeline.unattached_flights.clear();
    for (model::FlightRecord& flight : kept) {
        const auto owner = flight.rank ? by_rank.find(*flight.rank) : by_rank.end();
        if (owner == by_rank.end()) {
            timeline.unattached_flights.push_back(std::move(flight));
        } else {
            owner->second->flight = std::move(flight);
        }
    }
}

void sort_ranks(std::vector<model::Rank>& ranks) {
    std::stable_sort(ranks.begin(), ranks.end(), [](const model::Rank& a, const model::Rank& b) {
        if (a.rank.has_value() != b.rank.has_value()) return a.rank.has_value();
        return a.rank.value_or(0) < b.rank.value_or(0);
    });
}

void set_world_size(model::Timeline& timeline) {
    for (const model::Rank& rank : timeline.ranks) {
        if (rank.world_size)
            timeline.world_size = std::max(timeline.world_size.value_or(0), *rank.world_size);
    }
    if (timeline.world_size) return;
    size_t largest = 0;
    for (const model::FlightRecord& flight : timeline.unattached_flights) {
        for (const auto& [name, ranks] : flight.group_ranks)
            largest = std::max(largest, ranks.size());
    }
    if (largest > 0) timeline.world_size = static_cast<int>(largest);
}

void name_missing_nodes(const std::vector<NamedFolder>& folders, model::Timeline& timeline, Notes& notes) {
    std::set<std::string> present;
    for (const model::Node& node : timeline.nodes)
        present.insert(node.name);
    std::set<std::string> missing;
    for (const NamedFolder& folder : folders) {
        if (!folder.evidence.node) continue;
        for (const std::string& name : folder.evidence.node->node_names) {
            if (present.count(name) == 0) missing.insert(name);
        }
    }
    timeline.missing_nodes.assign(missing.begin(), missing.end());
    for (const std::string& name : missing)
        notes.add(name, "no evidence of this node");
}

model::WallNs newest_collection(const model::Timeline& timeline) {
    model::WallNs newest = 0;
    for (const model::Node& node : timeline.nodes)
        newest = std::max(newest, node.collected_wall_ns);
    return newest;
}

}  // namespace

model::Timeline assemble(std::vector<NamedFolder> folders, Notes& notes) {
    model::Timeline timeline;
    for (NamedFolder& folder : folders)
        FolderJoiner(folder, timeline, notes).join();
    leave_out_earlier_attempts(timeline.ranks);
    take_ends_from_parents(timeline.ranks);
    number_failed_ranks(timeline.ranks);
    attach_flights(timeline, notes);
    sort_ranks(timeline.ranks);
    std::stable_sort(timeline.nodes.begin(), timeline.nodes.end(),
                     [](const model::Node& a, const model::Node& b) { return a.index < b.index; });
    set_world_size(timeline);
    name_missing_nodes(folders, timeline, notes);
    for (model::LogFile& log : timeline.logs)
        resolve_years(log, newest_collection(timeline));
    return timeline;
}

}  // namespace inquest::evidence
