#include "spank/harvest/report_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "spank/harvest/box_files.h"
#include "spank/harvest/file_access.h"

namespace inquest::harvest {
namespace {

constexpr const char* kEvidence = "evidence";
constexpr const char* kDigests = "digests";
constexpr int kMakeAgain = 2;
constexpr int kMaxDepth = 2; /* <step>/<node>/file */

/* The part of the path above the report directory is the user's own and may hold links. */
UniqueFd open_parent(const std::string& report_directory) {
    const std::string parent = report_directory.substr(0, report_directory.rfind('/'));
    return UniqueFd(
        open(parent.empty() ? "/" : parent.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
}

std::string last_component(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

UniqueFd open_report(const std::string& report_directory) {
    const UniqueFd parent = open_parent(report_directory);
    return parent.valid() ? open_directory_at(parent.get(), last_component(report_directory)) : UniqueFd();
}

tl::unexpected<std::string> failed(const std::string& what, const std::string& why) {
    return tl::make_unexpected(fmt::format("{}: {}", what, why));
}

tl::expected<void, std::string> remove_file(int directory_fd, const std::string& name) {
    if (unlinkat(directory_fd, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return failed(name, errno_text());
}

/* A directory that is not empty is not ours alone and stays. */
tl::expected<void, std::string> remove_if_empty(int parent_fd, const std::string& name) {
    if (unlinkat(parent_fd, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
        errno == EEXIST)
        return {};
    return failed(name, errno_text());
}

tl::expected<void, std::string> remove_tree(int parent_fd, const std::string& name, int depth) {
    const UniqueFd directory = open_directory_at(parent_fd, name);
    if (!directory.valid()) return remove_file(parent_fd, name);
    if (depth == 0) return failed(name, "too deep");
    for (const std::string& entry : list_directory(directory.get(), kMaxDirectoryEntries))
        if (auto removed = remove_tree(directory.get(), entry, depth - 1); !removed) return removed;
    return remove_if_empty(parent_fd, name);
}

tl::expected<void, std::string> remove_reports(int report_fd) {
    for (const char* name : {"diagnosis.json", "report.txt"})
        if (auto removed = remove_file(report_fd, name); !removed) return removed;
    return {};
}

/* True when evidence of no other step is left. */
bool remove_evidence_root(int report_fd) {
    return unlinkat(report_fd, kEvidence, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

UniqueFd open_of_step(const StepDescription& step, const char* what) {
    const UniqueFd report = open_report(step.report_directory);
    const UniqueFd all = report.valid() ? open_directory_at(report.get(), what) : UniqueFd();
    return all.valid() ? open_directory_at(all.get(), step_name(step.step_id)) : UniqueFd();
}

tl::expected<UniqueFd, std::string> try_make_of_step(const StepDescription& step, const char* what) {
    const std::string components[] = {last_component(step.report_directory), what, step_name(step.step_id)};
    UniqueFd directory = open_parent(step.report_directory);
    if (!directory.valid()) return failed(step.report_directory, errno_text());
    for (const std::string& component : components) {
        auto next = make_directory_at(directory.get(), component);
        if (!next) return failed(fmt::format("{} of {}", component, step.report_directory), next.error());
        directory = std::move(*next);
    }
    return directory;
}

/* Another node may remove a directory that is empty between two of the steps down. */
tl::expected<UniqueFd, std::string> make_of_step(const StepDescription& step, const char* what) {
    auto made = try_make_of_step(step, what);
    for (int again = 0; again < kMakeAgain && !made; again++)
        made = try_make_of_step(step, what);
    return made;
}

}  // namespace

UniqueFd open_step_evidence(const StepDescription& step) {
    return open_of_step(step, kEvidence);
}

tl::expected<UniqueFd, std::string> make_step_evidence(const StepDescription& step) {
    return make_of_step(step, kEvidence);
}

UniqueFd open_step_digests(const StepDescription& step) {
    return open_of_step(step, kDigests);
}

tl::expected<UniqueFd, std::string> make_step_digests(const StepDescription& step) {
    return make_of_step(step, kDigests);
}

void remove_own_digests(const StepDescription& step) {
    const UniqueFd parent = open_parent(step.report_directory);
    const UniqueFd report = open_report(step.report_directory);
    const UniqueFd digests = report.valid() ? open_directory_at(report.get(), kDigests) : UniqueFd();
    if (!parent.valid() || !digests.valid()) return;
    const std::string name = step_name(step.step_id);
    const UniqueFd of_step = open_directory_at(digests.get(), name);
    if (of_step.valid()) unlinkat(of_step.get(), step.node.c_str(), 0);
    unlinkat(digests.get(), name.c_str(), AT_REMOVEDIR);
    unlinkat(report.get(), kDigests, AT_REMOVEDIR);
    unlinkat(parent.get(), last_component(step.report_directory).c_str(), AT_REMOVEDIR);
}

tl::expected<void, std::string> remove_step_evidence(const std::string& report_directory,
                                                     const std::string& step) {
    const UniqueFd report = open_report(report_directory);
    if (!report.valid()) return {};
    const UniqueFd evidence = open_directory_at(report.get(), kEvidence);
    if (evidence.valid())
        if (auto removed = remove_tree(evidence.get(), step, kMaxDepth); !removed) return removed;
    if (auto removed = remove_file(report.get(), fmt::format("notice-{}.txt", step)); !removed)
        return removed;
    if (!remove_evidence_root(report.get())) return {};
    if (auto removed = remove_reports(report.get()); !removed) return removed;
    const UniqueFd parent = open_parent(report_directory);
    return parent.valid() ? remove_if_empty(parent.get(), last_component(report_directory))
                          : tl::expected<void, std::string>();
}

}  // namespace inquest::harvest
