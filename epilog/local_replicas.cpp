#include "epilog/local_replicas.h"

#include "spank/harvest/box_files.h"
#include "spank/harvest/file_access.h"
#include "spank/replicas/box_reader.h"
#include "spank/replicas/comparison.h"

namespace inquest::epilog {
namespace {

constexpr int kMaxReads = 64; /* a full ring needs a few */

void add_box(int directory_fd, const std::string& name, replicas::Comparison& comparison) {
    const harvest::UniqueFd box = harvest::open_regular_file(directory_fd, name);
    const auto live = box.valid() ? harvest::read_live_counters(box.get()) : std::nullopt;
    if (!live) return;
    replicas::BoxReader reader;
    for (int turn = 0; turn < kMaxReads && reader.has_unread(*live); turn++) {
        std::vector<replicas::ReplicaRecord> records;
        reader.read(box.get(), *live, records);
        for (const replicas::ReplicaRecord& record : records)
            comparison.add(record);
    }
}

}  // namespace

bool local_replicas_differ(const harvest::StepDescription& step) {
    const harvest::UniqueFd directory = harvest::open_directory(step.box_directory);
    if (!directory.valid()) return false;
    replicas::Comparison comparison;
    const auto names = harvest::list_directory(directory.get(), harvest::kMaxDirectoryEntries);
    for (const harvest::BoxFile& box : harvest::find_boxes(names))
        add_box(directory.get(), box.name, comparison);
    comparison.finish();
    return comparison.take_difference().has_value();
}

}  // namespace inquest::epilog
