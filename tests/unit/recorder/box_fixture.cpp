#include "tests/unit/recorder/box_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inquest::recorder_test {

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "inquest-recorder-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryDirectory::files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        found.push_back(entry.path().string());
    }
    return found;
}

int run_in_child(const std::function<int()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(body());
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

const inquest_box_header& Box::header() const {
    return *reinterpret_cast<const inquest_box_header*>(bytes.data());
}

const inquest_box_live& Box::live() const {
    return *reinterpret_cast<const inquest_box_live*>(bytes.data() + INQUEST_BOX_LIVE_OFFSET);
}

std::string Box::text(uint32_t ident) const {
    if (ident == INQUEST_BOX_NO_STRING) {
        return {};
    }
    const size_t offset = INQUEST_BOX_STRINGS_OFFSET + ident - 1U;
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + offset, sizeof length);
    return bytes.substr(offset + sizeof length, length);
}

std::vector<inquest_box_record> Box::records(uint32_t ring) const {
    std::vector<inquest_box_record> whole;
    const inquest_box_area& area = header().ring[ring];
    const uint64_t head = live().ring_head[ring];
    for (uint64_t n = head > area.capacity ? head - area.capacity : 0; n < head; n++) {
        inquest_box_record record;
        std::memcpy(&record, bytes.data() + area.offset_bytes + n % area.capacity * sizeof record,
                    sizeof record);
        if (record.begin_mark == n + 1 && record.end_mark == n + 1) {
            whole.push_back(record);
        }
    }
    return whole;
}

std::optional<Box> read_box(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    content << stream.rdbuf();
    Box box{content.str()};
    if (box.bytes.size() != INQUEST_BOX_TOTAL_BYTES ||
        std::memcmp(box.bytes.data(), INQUEST_BOX_MAGIC, 8) != 0) {
        return std::nullopt;
    }
    return box;
}

}  // namespace inquest::recorder_test
