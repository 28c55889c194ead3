#include "epilog/evidence.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "spank/harvest/file_access.h"
#include "spank/harvest/report_directory.h"

namespace inquest::epilog {
namespace {

using harvest::UniqueFd;

constexpr auto kPollInterval = std::chrono::milliseconds(100);
constexpr std::size_t kMaxNodeJsonBytes = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMaxDiagnosisBytes = std::size_t{32} * 1024 * 1024;
constexpr std::size_t kMaxNodeDirectories = 65536;
constexpr std::size_t kMaxFilesPerNode = 16384;

/* A harvest during the step is followed by a final one, whose node.json says that the step has ended. */
bool is_final(int step_fd, const std::string& node) {
    const UniqueFd directory = harvest::open_directory_at(step_fd, node);
    if (!directory.valid()) return false;
    const auto text =
        harvest::read_regular_file(directory.get(), "node.json", kMaxNodeJsonBytes, harvest::KeptEnd::head);
    if (!text) return false;
    const auto json = nlohmann::json::parse(text->bytes, nullptr, false);
    if (!json.is_object()) return false;
    const auto ended = json.find("step_ended");
    return ended != json.end() && ended->is_boolean() && ended->get<bool>();
}

void drop_final(int step_fd, std::vector<std::string>& missing) {
    missing.erase(std::remove_if(missing.begin(), missing.end(),
                                 [&](const std::string& node) { return is_final(step_fd, node); }),
                  missing.end());
}

bool has_box_in(int step_fd, const std::string& node) {
    const UniqueFd directory = harvest::open_directory_at(step_fd, node);
    if (!directory.valid()) return false;
    const auto files = harvest::list_directory(directory.get(), kMaxFilesPerNode);
    return std::any_of(files.begin(), files.end(),
                       [](const std::string& file) { return file.starts_with("box-"); });
}

}  // namespace

bool has_evidence(const harvest::StepDescription& step) {
    return harvest::open_step_evidence(step).valid();
}

bool wait_for_nodes(const harvest::StepDescription& step, const std::vector<std::string>& nodes,
                    Deadline deadline) {
    std::vector<std::string> missing = nodes;
    for (;;) {
        const UniqueFd evidence = harvest::open_step_evidence(step);
        if (evidence.valid()) drop_final(evidence.get(), missing);
        if (missing.empty()) return true;
        if (deadline.has_passed()) return false;
        std::this_thread::sleep_for(kPollInterval);
    }
}

bool has_box(const harvest::StepDescription& step) {
    const UniqueFd evidence = harvest::open_step_evidence(step);
    if (!evidence.valid()) return false;
    const auto nodes = harvest::list_directory(evidence.get(), kMaxNodeDirectories);
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const std::string& node) { return has_box_in(evidence.get(), node); });
}

std::string read_diagnosis(const std::string& report_directory) {
    const UniqueFd report = harvest::open_directory(report_directory);
    if (!report.valid()) return {};
    auto text = harvest::read_regular_file(report.get(), "diagnosis.json", kMaxDiagnosisBytes,
                                           harvest::KeptEnd::head);
    return text && !text->cut ? std::move(text->bytes) : std::string();
}

}  // namespace inquest::epilog
