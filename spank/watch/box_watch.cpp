#include "spank/watch/box_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "spank/harvest/box_files.h"
#include "spank/harvest/file_access.h"

namespace inquest::watch {
namespace {

constexpr uint64_t kListEveryNs = 1000000000U;

/* A process that is not a rank (a data worker, a helper) may be ended by its parent at any time. */
bool is_rank(const inquest_box_live& live) {
    return live.rank >= 0 && live.state >= INQUEST_STATE_GROUP_READY;
}

bool ended_by_itself(const inquest_box_live& live) {
    return live.state == INQUEST_STATE_EXITED && live.exit_status == 0;
}

}  // namespace

BoxWatch::BoxWatch(std::string box_directory, std::string proc_root)
    : box_directory_(std::move(box_directory)), proc_root_(std::move(proc_root)) {}

std::vector<Death> BoxWatch::update(uint64_t now_mono_ns) {
    const bool list_is_old = now_mono_ns - listed_mono_ns_ >= kListEveryNs;
    if (directory_changed() || list_is_old) list_boxes(now_mono_ns);
    for (auto& [process, box] : boxes_)
        if (!box.gone_mono_ns) update_box(process, box, now_mono_ns);
    return std::exchange(deaths_, {});
}

bool BoxWatch::directory_changed() {
    if (!directory_.valid()) directory_ = harvest::open_directory(box_directory_);
    struct stat status {};
    if (!directory_.valid() || fstat(directory_.get(), &status) != 0) return false;
    const int64_t change_ns = status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
    return std::exchange(directory_change_ns_, change_ns) != change_ns;
}

void BoxWatch::list_boxes(uint64_t now_mono_ns) {
    listed_mono_ns_ = now_mono_ns;
    if (!directory_.valid()) return;
    const auto names = harvest::list_directory(directory_.get(), harvest::kMaxDirectoryEntries);
    for (const harvest::BoxFile& box : harvest::find_boxes(names))
        if (boxes_.size() < harvest::kMaxBoxes && boxes_.count(box.process) == 0)
            open_box(box.process, box.name);
}

void BoxWatch::open_box(const harvest::ProcessIdentity& process, const std::string& name) {
    harvest::UniqueFd file = harvest::open_regular_file(directory_.get(), name);
    if (file.valid()) boxes_.emplace(process, Box(std::move(file), ProcessProbe(proc_root_, process)));
}

/* Whether it lives is asked before the counters are read: what a process wrote last is then seen in any case.
 */
void BoxWatch::update_box(const harvest::ProcessIdentity& process, Box& box, uint64_t now_mono_ns) {
    box.alive = box.probe.is_alive();
    const auto live = harvest::read_live_counters(box.file.get());
    if (live) box.live = live;
    if (box.alive && !std::exchange(box.seen_alive, true)) new_processes_.push_back(process);
    if (box.alive || !box.seen_alive) return;
    box.gone_mono_ns = now_mono_ns;
    if (box.live && is_rank(*box.live) && !ended_by_itself(*box.live))
        deaths_.push_back({process, now_mono_ns});
}

std::vector<inquest_box_live> BoxWatch::living() const {
    std::vector<inquest_box_live> result;
    for (const auto& [process, box] : boxes_)
        if (box.alive && box.live) result.push_back(*box.live);
    return result;
}

std::vector<replicas::ReplicaRecord> BoxWatch::take_replica_records() {
    std::vector<replicas::ReplicaRecord> records;
    for (auto& [process, box] : boxes_)
        if (box.live) box.replicas.read(box.file.get(), *box.live, records);
    return records;
}

bool BoxWatch::has_unread_replica_records() const {
    return std::any_of(boxes_.begin(), boxes_.end(), [](const auto& entry) {
        const Box& box = entry.second;
        return box.live && box.replicas.has_unread(*box.live);
    });
}

std::vector<harvest::ProcessIdentity> BoxWatch::take_new_processes() {
    return std::exchange(new_processes_, {});
}

std::map<harvest::ProcessIdentity, uint64_t> BoxWatch::gone() const {
    std::map<harvest::ProcessIdentity, uint64_t> result;
    for (const auto& [process, box] : boxes_)
        if (box.gone_mono_ns) result.emplace(process, *box.gone_mono_ns);
    return result;
}

}  // namespace inquest::watch
