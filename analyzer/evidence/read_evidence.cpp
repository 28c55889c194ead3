#include "analyzer/evidence/read_evidence.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>

#include "analyzer/evidence/assemble.h"
#include "analyzer/evidence/directory_walk.h"
#include "analyzer/evidence/file_source.h"
#include "analyzer/evidence/input_reader.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr std::string_view kStandardInput = "standard input";

std::string parent_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string last_part(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string joined(const std::string& folder, const std::string& name) {
    return folder.empty() ? name : folder + "/" + name;
}

// What a report directory holds besides evidence: our own output is no evidence.
bool is_own_output(const std::string& name) {
    return name == "diagnosis.json" || name == "report.txt" ||
           (starts_with(name, "notice-") && ends_with(name, ".txt"));
}

// Reads every path into the store.
class Reading {
 public:
    explicit Reading(const Limits& limits) : limits_(limits), reader_(limits, notes_) {}

    void read_path(const std::string& path, bool only_path) {
        if (path == "-") {
            FileSource input = FileSource::standard_input();
            found_ |= reader_.read(input, std::string(kStandardInput), store_[""]);
            return;
        }
        constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        const FileDescriptor directory(openat(AT_FDCWD, path.c_str(), kFlags));
        if (directory.get() < 0)
            return read_file(AT_FDCWD, path, only_path ? last_part(path) : path, store_[""]);
        const std::string prefix = only_path ? std::string() : path;
        walk_directory(directory.get(), limits_, notes_,
                       [&](int fd, const std::string& folder, const std::string& name) {
                           const std::string where = prefix.empty()   ? folder
                                                     : folder.empty() ? prefix
                                                                      : joined(prefix, folder);
                           if (folder.empty() && is_own_output(name)) return;
                           read_file(fd, name, joined(where, name), store_[where]);
                       });
    }

    void finish() {
        for (auto& [folder, evidence] : store_)
            found_ |= reader_.finish(evidence);
    }

    bool found() const { return found_; }
    Store& store() { return store_; }
    Notes& notes() { return notes_; }

 private:
    void read_file(int fd, const std::string& name, const std::string& source, FolderEvidence& folder) {
        auto input = FileSource::open_at(fd, name);
        if (!input) return notes_.add(source, input.error());
        found_ |= reader_.read(*input, source, folder);
    }

    const Limits& limits_;
    Notes notes_;
    InputReader reader_;
    Store store_;
    bool found_ = false;
};

using Steps = std::map<std::string, std::vector<NamedFolder>>;

// Node folders by the folder of their step; everything else belongs to every step.
Steps split_steps(Store& store, std::vector<NamedFolder>& shared) {
    Steps steps;
    for (auto& [path, evidence] : store) {
        if (evidence.is_node_folder()) {
            steps[parent_of(path)].push_back({path, std::move(evidence)});
        } else {
            shared.push_back({path, std::move(evidence)});
        }
    }
    return steps;
}

// When the step began to fail, as far as its nodes tell; INT64_MAX when it did not fail.
model::WallNs failure_wall_ns(const std::vector<NamedFolder>& folders) {
    model::WallNs first = INT64_MAX;
    for (const NamedFolder& folder : folders) {
        if (!folder.evidence.node) continue;
        const model::Node& node = folder.evidence.node->node;
        first = std::min(first, node.stalled_since_wall_ns.value_or(INT64_MAX));
        for (const model::TaskEnd& task : node.tasks) {
            if (task.wait_status.value_or(0) != 0)
                first = std::min(first, task.exited_wall_ns.value_or(INT64_MAX));
        }
        const bool failed = node.reason == "stall" || node.reason == "death" || node.reason == "failure" ||
                            node.reason == "divergence";
        if (failed && node.collected_wall_ns > 0) first = std::min(first, node.collected_wall_ns);
    }
    return first;
}

// The step that failed first; a note names the others.
std::vector<NamedFolder> take_first_failed(Steps steps, Notes& notes) {
    if (steps.empty()) return {};
    auto first = steps.begin();
    for (auto step = steps.begin(); step != steps.end(); ++step) {
        if (failure_wall_ns(step->second) < failure_wall_ns(first->second)) first = step;
    }
    for (const auto& [path, folders] : steps) {
        if (path != first->first)
            notes.add(path, "another step, left out: " + first->first + " failed first");
    }
    return std::move(first->second);
}

model::Timeline join(Reading& reading) {
    std::vector<NamedFolder> folders;  // first those outside of any step
    std::vector<NamedFolder> step = take_first_failed(split_steps(reading.store(), folders), reading.notes());
    std::move(step.begin(), step.end(), std::back_inserter(folders));
    model::Timeline timeline = assemble(std::move(folders), reading.notes());
    timeline.notes = reading.notes().take();
    return timeline;
}

std::string nothing_readable(const std::vector<std::string>& paths, Notes& notes) {
    std::string text = "nothing readable in";
    for (const std::string& path : paths)
        text += " " + path;
    const auto list = notes.take();
    if (!list.empty()) text += ": " + list.front().source.source + " " + list.front().text;
    return text;
}

}  // namespace

tl::expected<model::Timeline, std::string> read_evidence(const std::vector<std::string>& paths,
                                                         const Limits& limits) {
    Reading reading(limits);
    for (const std::string& path : paths)
        reading.read_path(path, paths.size() == 1);
    reading.finish();
    if (!reading.found()) return tl::unexpected(nothing_readable(paths, reading.notes()));
    return join(reading);
}

}  // namespace inquest::evidence
