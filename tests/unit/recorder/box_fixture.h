/* For tests: a directory of its own, a child process that claims a box in it, and a strict reader of boxes.
 */
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spank/format/black_box.h"

namespace inquest::recorder_test {

class TemporaryDirectory {
 public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string& path() const { return path_; }
    std::vector<std::string> files() const;

 private:
    std::string path_;
};

/* Runs `body` in a fork (the library's box belongs to a whole process) and returns its wait status. */
int run_in_child(const std::function<int()>& body);

struct Box {
    std::string bytes;
    const inquest_box_header& header() const;
    const inquest_box_live& live() const;
    std::string text(uint32_t ident) const;
    /* Records whose two marks say that they are whole, oldest first. */
    std::vector<inquest_box_record> records(uint32_t ring) const;
};

/* nullopt when the file is absent, has the wrong size or no magic. */
std::optional<Box> read_box(const std::string& path);

}  // namespace inquest::recorder_test
