#include <fmt/format.h>
#include <sys/prctl.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/knowledge_directory.h"
#include "analyzer/cli/write_file.h"
#include "analyzer/detect/detect.h"
#include "analyzer/evidence/read_evidence.h"
#include "analyzer/knowledge/diagnose.h"
#include "analyzer/report/render.h"
#include "analyzer/report/sanitize.h"
#include "inquest_paths.h"

namespace inquest::cli {
namespace {

struct Options {
    std::vector<std::string> paths;
    bool json = false;
    std::string report_directory;
    std::string knowledge;
};

// Step names reach a file name: digits and letters only.
std::string notice_name(const model::Diagnosis& diagnosis) {
    std::string step = diagnosis.step.value_or("0");
    for (char& byte : step) {
        if (std::isalnum(static_cast<unsigned char>(byte)) == 0) byte = '_';
    }
    return "notice-" + step.substr(0, 32) + ".txt";
}

tl::expected<void, std::string> write_report(const model::Diagnosis& diagnosis,
                                             const std::string& directory) {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(directory, error).lexically_normal().string();
    auto written = write_file(directory, "report.txt", report::render_text(diagnosis));
    if (written) written = write_file(directory, "diagnosis.json", report::render_json(diagnosis));
    // Always written: an empty notice tells srun not to wait, and replaces one that no longer holds.
    const std::string notice =
        diagnosis.worth_a_notice ? report::render_notice(diagnosis, absolute + "/report.txt") : std::string();
    if (written) written = write_file(directory, notice_name(diagnosis), notice);
    return written;
}

ExitStatus fail(ExitStatus status, const std::string& problem, const std::string& advice) {
    fmt::print(stderr, "inquest analyze: {}\n{}\n", problem, advice);
    return status;
}

ExitStatus status_of(const model::Diagnosis& diagnosis) {
    if (diagnosis.end == "healthy") return ExitStatus::kHealthy;
    return diagnosis.confidence == model::Confidence::kUnknown ? ExitStatus::kUnknown
                                                               : ExitStatus::kDiagnosed;
}

ExitStatus analyze(const Options& options) {
    // Started so by the lead and the epilog, outside of the job's cgroup: the user's processes must not trace
    // it.
    if (!options.report_directory.empty()) prctl(PR_SET_DUMPABLE, 0);
    const std::string directory = knowledge_directory(options.knowledge);
    const auto knowledge = knowledge::load_knowledge(directory);
    if (!knowledge) {
        return fail(ExitStatus::kUsage, "cannot load the knowledge base: " + knowledge.error().describe(),
                    "Name its directory with --knowledge DIR, or install Inquest again.");
    }
    const auto timeline = evidence::read_evidence(options.paths);
    if (!timeline) {
        return fail(ExitStatus::kNothingReadable, timeline.error(),
                    "Give log files, dumps, a directory inquest-JOB, or - for standard input.");
    }
    model::Diagnosis diagnosis =
        knowledge::diagnose(*knowledge, detect::detect_all(*timeline, *knowledge), *timeline);
    diagnosis.versions["inquest"] = INQUEST_VERSION_TEXT;
    diagnosis = report::make_safe(std::move(diagnosis));
    if (!options.report_directory.empty()) {
        const auto written = write_report(diagnosis, options.report_directory);
        if (!written) {
            return fail(ExitStatus::kUsage, written.error(), "Give --report an existing directory of yours.");
        }
    }
    fmt::print("{}", options.json ? report::render_json(diagnosis) : report::render_text(diagnosis));
    return status_of(diagnosis);
}

}  // namespace

Command add_analyze(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("analyze", "Diagnose logs, dumps and the evidence of a step");
    command->add_option("PATH", options->paths, "Files and directories; - is standard input")->required();
    command->add_flag("--json", options->json, "Print the diagnosis as JSON");
    command->add_option("--report", options->report_directory,
                        "Also write diagnosis.json, report.txt and notice-STEP.txt into this directory");
    command->add_option("--knowledge", options->knowledge, "Directory of the knowledge base");
    command->footer(
        "EXAMPLES\n"
        "  inquest analyze train.log\n"
        "  srun python train.py 2>&1 | inquest analyze -\n"
        "  inquest analyze inquest-4711/evidence/0 --report inquest-4711\n"
        "\nEXIT STATUS\n  0 healthy, 10 diagnosed, 11 unknown, 2 wrong usage, 3 nothing readable\n");
    return [options] { return analyze(*options); };
}

}  // namespace inquest::cli
