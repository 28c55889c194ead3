#include "spank/watch/diagnosis_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "spank/harvest/file_access.h"

namespace inquest::watch {
namespace {

constexpr size_t kMaxDiagnosisBytes = size_t{16} * 1024 * 1024;

std::string text_field(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<DiagnosisState> read_diagnosis_state(const harvest::StepDescription& step) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    if (!report.valid()) return std::nullopt;
    const auto text = harvest::read_regular_file(report.get(), "diagnosis.json", kMaxDiagnosisBytes,
                                                 harvest::KeptEnd::head);
    if (!text) return std::nullopt;
    const auto diagnosis = nlohmann::json::parse(text->bytes, nullptr, false);
    if (!diagnosis.is_object() || text_field(diagnosis, "step") != harvest::step_name(step.step_id))
        return std::nullopt;
    return DiagnosisState{text_field(diagnosis, "cause"), text_field(diagnosis, "family"),
                          text_field(diagnosis, "confidence"), text_field(diagnosis, "end")};
}

void confirm_diagnosis(const harvest::StepDescription& step) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    const std::string notice = "notice-" + harvest::step_name(step.step_id) + ".txt";
    if (report.valid()) utimensat(report.get(), notice.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool is_diagnosed_for_good(const harvest::StepDescription& step) {
    const auto diagnosis = read_diagnosis_state(step);
    return diagnosis && (diagnosis->end == "hang" || diagnosis->end == "crash" || diagnosis->end == "exit");
}

}  // namespace inquest::watch
