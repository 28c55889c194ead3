#include "epilog/journals.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "spank/harvest/file_access.h"

namespace inquest::epilog {
namespace {

constexpr std::size_t kMaxNames = 16384;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

bool is_step_name(std::string_view text) {
    return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    });
}

std::uint64_t wall_ns_of(const std::string& message) {
    inquest_step_message fields{};
    std::memcpy(&fields, message.data(), std::min(message.size(), sizeof fields));
    return fields.wall_ns;
}

bool has_failed(const harvest::TaskRecord& task) {
    return task.wait_status.value_or(0) != 0;
}

std::uint64_t first_failure_wall_ns(const harvest::JournalContent& journal) {
    std::uint64_t first = 0;
    for (const harvest::TaskRecord& task : journal.step.tasks) {
        const std::uint64_t wall_ns = task.exited_wall_ns.value_or(0);
        if (has_failed(task) && (first == 0 || wall_ns < first)) first = wall_ns;
    }
    return first != 0 ? first : wall_ns_of(journal.messages.back());
}

/* Names of journals: that of the batch step, then those with the newest message first. */
std::vector<std::string> newest_first(int directory_fd, std::vector<std::string> names) {
    std::vector<std::tuple<bool, std::int64_t, std::int64_t, std::string>> keyed;
    for (std::string& name : names) {
        struct stat status {};
        if (fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        keyed.emplace_back(!name.ends_with(".batch"), -status.st_mtim.tv_sec, -status.st_mtim.tv_nsec,
                           std::move(name));
    }
    std::sort(keyed.begin(), keyed.end());
    names.clear();
    for (auto& [is_step, seconds, nanoseconds, name] : keyed)
        names.push_back(std::move(name));
    return names;
}

}  // namespace

bool read_job_step(const std::string& bytes, JobStep& step) {
    auto journal = harvest::parse_step_journal(bytes);
    if (!journal || journal->messages.empty()) return false;
    step.journal = std::move(*journal);
    step.name = harvest::step_name(step.journal.step.step_id);
    step.started_wall_s = static_cast<std::int64_t>(wall_ns_of(step.journal.messages.front()) / kNsPerSecond);
    step.failed = harvest::any_task_failed(step.journal.step);
    step.failed_wall_ns = first_failure_wall_ns(step.journal);
    return true;
}

std::vector<std::string> names_of_job(const std::string& directory, std::uint32_t job_id) {
    const harvest::UniqueFd opened = harvest::open_directory(directory);
    std::vector<std::string> names;
    if (!opened.valid()) return names;
    const std::string prefix = std::to_string(job_id) + ".";
    for (std::string& name : harvest::list_directory(opened.get(), kMaxNames)) {
        if (name.starts_with(prefix) && is_step_name(std::string_view(name).substr(prefix.size()))) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::vector<JobStep> read_job_steps(const std::string& directory, std::uint32_t job_id,
                                    const UserIdentity& user) {
    std::vector<JobStep> steps = read_job_steps(directory, job_id);
    std::erase_if(steps, [&](const JobStep& step) { return step.journal.step.uid != user.uid; });
    return steps;
}

std::vector<JobStep> read_job_steps(const std::string& directory, std::uint32_t job_id) {
    std::vector<JobStep> steps;
    const harvest::UniqueFd opened = harvest::open_directory(directory);
    for (const std::string& name : newest_first(opened.get(), names_of_job(directory, job_id))) {
        if (steps.size() >= kMaxSteps) break;
        const auto bytes =
            harvest::read_regular_file(opened.get(), name, harvest::kMaxJournalBytes, harvest::KeptEnd::head);
        JobStep step{};
        if (!bytes || !read_job_step(bytes->bytes, step)) continue;
        if (step.journal.step.job_id == job_id) steps.push_back(std::move(step));
    }
    return steps;
}

std::vector<std::string> report_names(const std::vector<JobStep>& steps) {
    std::set<std::string> names;
    for (const JobStep& step : steps)
        names.insert(harvest::report_name(step.journal.step));
    return {names.begin(), names.end()};
}

std::vector<const JobStep*> by_decisiveness(const std::vector<JobStep>& steps) {
    std::vector<const JobStep*> order;
    order.reserve(steps.size());
    for (const JobStep& step : steps)
        order.push_back(&step);
    std::stable_sort(order.begin(), order.end(), [](const JobStep* left, const JobStep* right) {
        const auto key = [](const JobStep* step) {
            return std::tuple(step->name == "batch", !step->failed, step->failed_wall_ns);
        };
        return key(left) < key(right);
    });
    return order;
}

}  // namespace inquest::epilog
