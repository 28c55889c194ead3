#include "spank/watch/journals.h"

#include <sys/stat.h>

#include "spank/harvest/file_access.h"

namespace inquest::watch {
namespace {

constexpr size_t kMaxJournals = 4096;

bool belongs_to(int fd, uid_t owner) {
    struct stat status {};
    return fstat(fd, &status) == 0 && status.st_uid == owner && (status.st_mode & 022U) == 0;
}

}  // namespace

std::vector<harvest::JournalContent> read_journals(const std::string& steps_directory, uid_t owner,
                                                   size_t limit) {
    std::vector<harvest::JournalContent> journals;
    const harvest::UniqueFd directory = harvest::open_directory(steps_directory);
    if (!directory.valid() || !belongs_to(directory.get(), owner)) return journals;
    for (const std::string& name : harvest::list_directory(directory.get(), kMaxJournals)) {
        const harvest::UniqueFd file = harvest::open_regular_file(directory.get(), name);
        if (!file.valid() || !belongs_to(file.get(), owner) || journals.size() == limit) continue;
        const auto text =
            harvest::read_open_file(file.get(), harvest::kMaxJournalBytes, harvest::KeptEnd::head);
        auto journal = text ? harvest::parse_step_journal(text->bytes) : tl::make_unexpected(text.error());
        if (journal) journals.push_back(std::move(*journal));
    }
    return journals;
}

}  // namespace inquest::watch
