#include "analyzer/evidence/directory_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "analyzer/evidence/file_source.h"
#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

struct DirectoryCloser {
    void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

class Walk {
 public:
    Walk(const Limits& limits, Notes& notes, const FileVisitor& visit)
        : limits_(limits), notes_(notes), visit_(visit), files_left_(limits.files) {}

    void enter(FileDescriptor fd, const std::string& folder, size_t depth) {
        const Directory directory(fdopendir(fd.get()));
        if (!directory) return notes_.add(folder, "directory cannot be read");
        fd.release();  // closedir closes it
        for (const std::string& name : sorted_names(directory.get(), folder)) {
            visit_entry(dirfd(directory.get()), folder, name, depth);
        }
    }

 private:
    std::vector<std::string> sorted_names(DIR* directory, const std::string& folder) {
        std::vector<std::string> names;
        while (const dirent* entry = readdir(directory)) {
            const std::string name(entry->d_name);
            if (name[0] == '.' || ends_with(name, ".tmp")) continue;
            if (names.size() >= limits_.files) {
                notes_.add(folder, "too many files; the rest was left out");
                break;
            }
            names.push_back(name);
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    void visit_entry(int fd, const std::string& folder, const std::string& name, size_t depth) {
        const std::string path = folder.empty() ? name : folder + "/" + name;
        struct stat status {};
        if (fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
        if (S_ISDIR(status.st_mode)) return enter_below(fd, path, name, depth);
        if (!S_ISREG(status.st_mode)) return notes_.add(path, "left out: not a regular file");
        if (files_left_ == 0) return notes_.add("", "too many files; the rest was left out");
        --files_left_;
        visit_(fd, folder, name);
    }

    void enter_below(int fd, const std::string& path, const std::string& name, size_t depth) {
        if (depth >= limits_.directory_depth) return notes_.add(path, "left out: nested too deeply");
        constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        FileDescriptor below(openat(fd, name.c_str(), kFlags));
        if (below.get() < 0) return notes_.add(path, "directory cannot be opened");
        enter(std::move(below), path, depth + 1);
    }

    const Limits& limits_;
    Notes& notes_;
    const FileVisitor& visit_;
    size_t files_left_;
};

}  // namespace

void walk_directory(int top_fd, const Limits& limits, Notes& notes, const FileVisitor& visit) {
    FileDescriptor copy(fcntl(top_fd, F_DUPFD_CLOEXEC, 0));
    Walk(limits, notes, visit).enter(std::move(copy), "", 0);
}

}  // namespace inquest::evidence
