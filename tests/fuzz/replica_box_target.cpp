#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "spank/harvest/box_files.h"
#include "spank/harvest/unique_fd.h"
#include "spank/replicas/box_reader.h"
#include "spank/replicas/comparison.h"
#include "spank/replicas/exchange_text.h"
#include "tests/fuzz/target.h"

namespace {

using namespace inquest;

constexpr int kMaxReads = 64;  // as the epilog

harvest::UniqueFd file_of(std::string_view bytes) {
    harvest::UniqueFd file(memfd_create("box", MFD_CLOEXEC));
    const ssize_t written = file.valid() ? write(file.get(), bytes.data(), bytes.size()) : -1;
    fuzz::require(written == static_cast<ssize_t>(bytes.size()), "the input is in a file");
    return file;
}

void take(const replicas::ReplicaRecord& record, replicas::Comparison& comparison) {
    const std::string line = replicas::format_record(record);
    fuzz::require(line.size() <= replicas::kMaxLineBytes, "lines are bounded");
    comparison.add(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const harvest::UniqueFd box = file_of(fuzz::text_of(data, size));
    const auto live = harvest::read_live_counters(box.get());
    if (!live) return 0;
    replicas::BoxReader reader;
    replicas::Comparison comparison;
    for (int turn = 0; turn < kMaxReads && reader.has_unread(*live); turn++) {
        std::vector<replicas::ReplicaRecord> records;
        reader.read(box.get(), *live, records);
        for (const replicas::ReplicaRecord& record : records)
            take(record, comparison);
    }
    comparison.finish();
    return 0;
}
