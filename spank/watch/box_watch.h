/* The boxes of a step on this node while it runs: live counters, living processes, deaths.
 *
 * Cheap enough to be asked five times a second: two preads and one question to the kernel per living process;
 * the directory is listed only when it changed or a second has passed. Not thread safe. */
#ifndef INQUEST_SPANK_WATCH_BOX_WATCH_H
#define INQUEST_SPANK_WATCH_BOX_WATCH_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spank/format/black_box.h"
#include "spank/harvest/process_table.h"
#include "spank/harvest/unique_fd.h"
#include "spank/replicas/box_reader.h"
#include "spank/watch/process_probe.h"

namespace inquest::watch {

struct Death {
    harvest::ProcessIdentity process;
    uint64_t gone_mono_ns = 0; /* when it was noticed */
};

class BoxWatch {
 public:
    BoxWatch(std::string box_directory, std::string proc_root);

    /* Looks at everything once. Returns the ranks that were seen alive before, are gone now and did not end
     * by themselves with status 0. A process that was never seen alive (another pid namespace) does not
     * count. */
    std::vector<Death> update(uint64_t now_mono_ns);

    /* Live counters of the processes that lived at the last update. */
    [[nodiscard]] std::vector<inquest_box_live> living() const;

    /* What the boxes say about replicas and was not taken yet, as of the last update; bounded, so that more
     * may be left. */
    std::vector<replicas::ReplicaRecord> take_replica_records();

    /* Whether there is more of it, or a record whose writer may still finish it. */
    [[nodiscard]] bool has_unread_replica_records() const;

    /* Processes that came to life since the last call. */
    std::vector<harvest::ProcessIdentity> take_new_processes();

    [[nodiscard]] std::map<harvest::ProcessIdentity, uint64_t> gone() const;

 private:
    struct Box {
        Box(harvest::UniqueFd box_file, ProcessProbe process_probe)
            : file(std::move(box_file)), probe(std::move(process_probe)) {}

        harvest::UniqueFd file;
        ProcessProbe probe;
        std::optional<inquest_box_live> live;
        replicas::BoxReader replicas;
        bool seen_alive = false;
        bool alive = false;
        std::optional<uint64_t> gone_mono_ns;
    };

    void list_boxes(uint64_t now_mono_ns);
    [[nodiscard]] bool directory_changed();
    void open_box(const harvest::ProcessIdentity& process, const std::string& name);
    void update_box(const harvest::ProcessIdentity& process, Box& box, uint64_t now_mono_ns);

    std::string box_directory_;
    std::string proc_root_;
    harvest::UniqueFd directory_;
    int64_t directory_change_ns_ = 0;
    uint64_t listed_mono_ns_ = 0;
    std::map<harvest::ProcessIdentity, Box> boxes_;
    std::vector<harvest::ProcessIdentity> new_processes_;
    std::vector<Death> deaths_;
};

}  // namespace inquest::watch

#endif
