#include "spank/watch/diagnosis_state.h"

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

bool is_diagnosed_for_good(const harvest::StepDescription& step) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    if (!report.valid()) return false;
    const auto text = harvest::read_regular_file(report.get(), "diagnosis.json", kMaxDiagnosisBytes,
                                                 harvest::KeptEnd::head);
    if (!text) return false;
    const auto diagnosis = nlohmann::json::parse(text->bytes, nullptr, false);
    if (!diagnosis.is_object() || text_field(diagnosis, "step") != harvest::step_name(step.step_id))
        return false;
    const std::string end = text_field(diagnosis, "end");
    return end == "hang" || end == "crash" || end == "exit";
}

}  // namespace inquest::watch
