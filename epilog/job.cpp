#include "epilog/job.h"

#include <charconv>
#include <string_view>

#include "epilog/hostlist.h"

namespace inquest::epilog {
namespace {

std::string_view text_of(const Environment& environment, const char* name) {
    const char* value = environment(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::uint32_t> number_of(const Environment& environment, const char* name) {
    const std::string_view text = text_of(environment, name);
    std::uint32_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

/* slurmd 22.05 has only the older name in the environment of Epilog. */
std::string_view node_list_of(const Environment& environment) {
    const std::string_view nodes = text_of(environment, "SLURM_JOB_NODELIST");
    return nodes.empty() ? text_of(environment, "SLURM_NODELIST") : nodes;
}

/* "0", "256", or "0:9" (exit code and signal): anything but zeros is a failure. */
bool is_failure(std::string_view exit_code) {
    return exit_code.find_first_of("123456789") != std::string_view::npos;
}

}  // namespace

std::optional<Job> read_job(const Environment& environment) {
    const auto job_id = number_of(environment, "SLURM_JOB_ID");
    const auto uid = number_of(environment, "SLURM_JOB_UID");
    const auto gid = number_of(environment, "SLURM_JOB_GID");
    if (!job_id || !uid || !gid || *job_id == 0) return std::nullopt;
    return Job{*job_id,
               {*uid, *gid},
               std::string(text_of(environment, "SLURM_CLUSTER_NAME")),
               std::string(text_of(environment, "SLURMD_NODENAME")),
               expand_hostlist(std::string(node_list_of(environment))),
               is_failure(text_of(environment, "SLURM_JOB_EXIT_CODE")) ||
                   is_failure(text_of(environment, "SLURM_JOB_DERIVED_EC"))};
}

}  // namespace inquest::epilog
