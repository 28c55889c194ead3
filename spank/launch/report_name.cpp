#include "spank/launch/report_name.h"

#include <charconv>

namespace inquest::launch {
namespace {

constexpr uint32_t kMaxRestarts = 1000; /* looked for */

std::string name_of(uint32_t job_id, uint32_t restarts) {
    const std::string name = "inquest-" + std::to_string(job_id);
    return restarts == 0 ? name : name + "-restart" + std::to_string(restarts);
}

uint32_t restarts_of(const Environment& environment) {
    auto found = environment.find("SLURM_RESTART_COUNT");
    const std::string text = found == environment.end() ? "" : found->second;
    uint32_t restarts = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), restarts);
    return error == std::errc() && stop == text.data() + text.size() ? restarts : 0;
}

}  // namespace

std::string report_name(uint32_t job_id, const std::string& step, const Environment& environment,
                        const std::function<bool(const std::string& name)>& is_taken) {
    uint32_t restarts = restarts_of(environment);
    while (step == "batch" && restarts < kMaxRestarts && is_taken(name_of(job_id, restarts))) {
        restarts++;
    }
    return name_of(job_id, restarts);
}

}  // namespace inquest::launch
