#include "spank/watch/diagnosis_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "spank/harvest/file_access.h"

namespace inquest::watch {
namespace {

constexpr size_t kMaxDiagnosisBytes = size_t{16} * 1024 * 1024;

std::string text_field(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string initiators_of(const nlohmann::json& diagnosis) {
    const auto found = diagnosis.find("initiating");
    return found != diagnosis.end() ? found->dump() : std::string();
}

std::string notice_name(const harvest::StepDescription& step) {
    return "notice-" + harvest::step_name(step.step_id) + ".txt";
}

/* One write, so that a reader sees all of it or nothing; what fails is left out. */
void append_line(int directory_fd, const std::string& name, const std::string& line) {
    const harvest::UniqueFd file(
        openat(directory_fd, name.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (write(file.get(), line.data(), line.size()) < 0) return;
}

}  // namespace

std::optional<DiagnosisState> read_diagnosis_state(const harvest::StepDescription& step) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    if (!report.valid()) return std::nullopt;
    const harvest::UniqueFd file = harvest::open_regular_file(report.get(), "diagnosis.json");
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return std::nullopt;
    const auto text = harvest::read_open_file(file.get(), kMaxDiagnosisBytes, harvest::KeptEnd::head);
    if (!text) return std::nullopt;
    const auto diagnosis = nlohmann::json::parse(text->bytes, nullptr, false);
    if (!diagnosis.is_object() || text_field(diagnosis, "step") != harvest::step_name(step.step_id))
        return std::nullopt;
    return DiagnosisState{text_field(diagnosis, "cause"),
                          text_field(diagnosis, "family"),
                          text_field(diagnosis, "confidence"),
                          text_field(diagnosis, "end"),
                          initiators_of(diagnosis),
                          status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec};
}

void confirm_diagnosis(const harvest::StepDescription& step) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    const std::string notice = notice_name(step);
    if (report.valid()) utimensat(report.get(), notice.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void note_in_report(const harvest::StepDescription& step, const std::string& text) {
    const harvest::UniqueFd report = harvest::open_directory(step.report_directory);
    if (!report.valid()) return;
    append_line(report.get(), "report.txt", "\n" + text + "\n");
    append_line(report.get(), notice_name(step), "  note        " + text + "\n");
}

bool is_diagnosed_for_good(const harvest::StepDescription& step) {
    const auto diagnosis = read_diagnosis_state(step);
    return diagnosis && (diagnosis->end == "hang" || diagnosis->end == "crash" || diagnosis->end == "exit");
}

}  // namespace inquest::watch
