#include "epilog/report.h"

#include <sys/stat.h>

#include "epilog/record_line.h"
#include "tests/unit/catch.h"
#include "tests/unit/epilog/journal_bytes.h"
#include "tests/unit/epilog/temporary_directory.h"

namespace inquest::epilog {
namespace {

constexpr const char* kFinal = R"({"schema": "inquest-node-evidence-1", "step_ended": true})";

/* A job with one step on one node, its report directory, and an analyzer that copies a prepared diagnosis. */
class ReportedJob {
 public:
    explicit ReportedJob(std::int32_t wait_status) {
        JournalSketch sketch;
        sketch.report = directory_ / "inquest-7";
        REQUIRE(read_job_step(step_start(sketch) + task_exit(sketch, 0, wait_status, 1), steps_[0]));
    }
    void write_evidence() const { directory_.write("inquest-7/evidence/0/n1/node.json", kFinal); }
    void analyzer_finds(const std::string& cause, const std::string& end = "crash") const {
        directory_.write("found.json", R"({"schema": "inquest-diagnosis-1", "step": "0", "cause": ")" +
                                           cause + R"(", "family": "rank-died", "confidence": "certain",
                                               "end": ")" +
                                           end + R"("})");
        directory_.write("analyzer",
                         "#!/bin/sh\nexec cp " + directory_ / "found.json" + " \"$4/diagnosis.json\"\n");
        chmod((directory_ / "analyzer").c_str(), 0700);
    }
    ReportResult report(std::chrono::milliseconds time = std::chrono::seconds(10)) const {
        return report_job({steps_, false, directory_ / "analyzer", Deadline::after(time)});
    }
    void runs_on_another_node_too() { steps_[0].journal.step.node_count = 2; }
    bool has_line_after_the_deadline(bool failed_elsewhere) const {
        const auto time = std::chrono::milliseconds(3100); /* 100 ms of it for the other node */
        return report_job({steps_, failed_elsewhere, directory_ / "analyzer", Deadline::after(time)})
                   .has_line == 1;
    }
    bool has_report_directory() const { return directory_.exists("inquest-7"); }
    const TemporaryDirectory& directory() const { return directory_; }

 private:
    TemporaryDirectory directory_;
    std::vector<JobStep> steps_{1};
};

TEST_CASE("a failed step with a cause goes into the record and keeps its report") {
    const ReportedJob job(256);
    job.write_evidence();
    job.analyzer_finds("rank-exception");
    const ReportResult result = job.report();
    CHECK(result.has_line == 1);
    CHECK(bounded_text(result.fields.cause) == "rank-exception");
    CHECK(job.has_report_directory());
}

TEST_CASE("a step that ended well with replicas that differ has a line when the analyzer finds a cause") {
    const ReportedJob job(0);
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "divergence_noticed_mono_ns": 5,
                              "tasks": [{"wait_status": 0}]})");
    job.analyzer_finds("some-cause");
    CHECK(job.report().takes_back == 0);
    CHECK(job.report().has_line == 1);
    CHECK(job.has_report_directory());
    job.analyzer_finds("healthy");
    const ReportResult result = job.report();
    CHECK(result.has_line == 0);
    CHECK(result.takes_back == 1); /* what may have been told while it ran */
    CHECK_FALSE(job.has_report_directory());
}

TEST_CASE("replicas that differ have a line also when the cause is not known") {
    const ReportedJob job(0);
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "divergence_noticed_mono_ns": 5,
                              "tasks": [{"wait_status": 0}]})");
    job.analyzer_finds("unknown", "silent");
    const ReportResult result = job.report();
    CHECK(result.has_line == 1);
    CHECK(bounded_text(result.fields.cause) == "unknown");
    CHECK(job.has_report_directory());
}

TEST_CASE("the diagnosis for which Inquest cancelled a job stands") {
    const ReportedJob job(15);
    job.analyzer_finds("killed");
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "cancelled_for_divergence": true,
                              "tasks": [{"wait_status": 15}]})");
    job.directory().write("inquest-7/diagnosis.json",
                          R"({"schema": "inquest-diagnosis-1", "step": "0", "cause": "drift"})");
    const ReportResult result = job.report();
    CHECK(result.has_line == 1);
    CHECK(bounded_text(result.fields.cause) == "drift");
}

TEST_CASE("a step that ended well has no line when its replicas cannot be analysed") {
    const ReportedJob job(0);
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "divergence_noticed_mono_ns": 5,
                              "tasks": [{"wait_status": 0}]})");
    CHECK(job.report().has_line == 0);
}

TEST_CASE("a healthy step leaves neither a line nor a directory") {
    const ReportedJob job(0);
    CHECK(job.report().has_line == 0);
    job.write_evidence();
    job.analyzer_finds("healthy");
    CHECK(job.report().has_line == 0);
    CHECK_FALSE(job.has_report_directory());
}

TEST_CASE("what somebody else put into the report directory stays") {
    const ReportedJob job(0);
    job.write_evidence();
    job.directory().write("inquest-7/thesis.tex", "mine");
    job.analyzer_finds("healthy");
    CHECK(job.report().has_line == 0);
    CHECK(job.directory().read("inquest-7/thesis.tex") == "mine");
    CHECK_FALSE(job.directory().exists("inquest-7/evidence"));
}

TEST_CASE("a failed step has a line, also with an unknown cause and without a black box") {
    const ReportedJob job(256);
    job.analyzer_finds("unknown");
    job.write_evidence();
    CHECK(job.report().has_line == 1);
    CHECK(job.has_report_directory());
}

TEST_CASE("a step whose tasks all ended well is healthy, whatever was diagnosed while it ran") {
    const ReportedJob job(0);
    job.analyzer_finds("collective-on-some-ranks");
    job.directory().write("inquest-7/diagnosis.json", job.directory().read("found.json"));
    job.directory().write("inquest-7/notice-0.txt", "hangs");
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "tasks": [{"wait_status": 0}]})");
    CHECK(job.report().has_line == 0);
    CHECK_FALSE(job.has_report_directory());
}

TEST_CASE("a step that is well as far as its nodes tell is healthy when Slurm's exit codes say so too") {
    ReportedJob job(0);
    job.runs_on_another_node_too();
    job.analyzer_finds("collective-on-some-ranks");
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "tasks": [{"wait_status": 0}]})");
    CHECK(job.has_line_after_the_deadline(true));
    CHECK_FALSE(job.has_line_after_the_deadline(false));
    CHECK_FALSE(job.has_report_directory());
}

TEST_CASE(
    "evidence that nobody wrote is no failure when neither this node nor Slurm's exit codes know of one") {
    ReportedJob healthy(0);
    std::filesystem::create_directories(healthy.directory() / "inquest-7/evidence/0");
    CHECK_FALSE(healthy.has_line_after_the_deadline(false));
    CHECK_FALSE(healthy.has_report_directory());
    ReportedJob failed(256);
    std::filesystem::create_directories(failed.directory() / "inquest-7/evidence/0");
    CHECK(failed.has_line_after_the_deadline(false));
}

TEST_CASE("where nothing says that a task failed, an unknown cause is no line") {
    for (const char* evidence : {R"({"step_ended": true, "divergence_noticed_mono_ns": 5,
                                     "tasks": [{"wait_status": 0}]})",
                                 R"({"step_ended": false, "tasks": [{"wait_status": 0}]})"}) {
        ReportedJob job(0);
        job.runs_on_another_node_too();
        job.analyzer_finds("unknown");
        job.directory().write("inquest-7/evidence/0/n1/node.json", evidence);
        CHECK_FALSE(job.has_line_after_the_deadline(false));
        job.directory().write("inquest-7/evidence/0/n1/node.json", evidence);
        CHECK(job.has_line_after_the_deadline(true));
        job.directory().write("inquest-7/evidence/0/n2/node.json",
                              R"({"step_ended": false, "tasks": [{"wait_status": 9}]})");
        CHECK(job.has_line_after_the_deadline(false));
    }
}

TEST_CASE("what was found when the replicas began to differ stands at the end") {
    const ReportedJob job(0);
    job.directory().write("inquest-7/evidence/0/n1/node.json",
                          R"({"step_ended": true, "divergence_noticed_mono_ns": 5,
                              "tasks": [{"wait_status": 0}]})");
    job.analyzer_finds("healthy");
    job.directory().write("inquest-7/diagnosis.json",
                          R"({"schema": "inquest-diagnosis-1", "step": "0", "cause": "drift",
                              "end": "silent"})");
    const ReportResult result = job.report();
    CHECK(result.has_line == 1);
    CHECK(bounded_text(result.fields.cause) == "drift");
}

TEST_CASE("a diagnosis that the lead wrote counts when the analyzer fails") {
    const ReportedJob job(256);
    job.write_evidence();
    job.analyzer_finds("rank-exception");
    REQUIRE(job.report().has_line == 1);
    job.directory().write("analyzer", "#!/bin/sh\nexit 3\n");
    CHECK(job.report().has_line == 1);
}

TEST_CASE("the cause is unknown when nothing was analysed, and the evidence is kept") {
    const ReportedJob job(256);
    job.write_evidence();
    const ReportResult result = job.report();
    CHECK(result.has_line == 1);
    CHECK(bounded_text(result.fields.cause) == kCauseUnknown);
    CHECK(job.has_report_directory());
}

TEST_CASE("a node that does not answer leaves time for the analysis") {
    const ReportedJob job(256);
    job.directory().write("inquest-7/evidence/0/n1/node.json", R"({"step_ended": false})");
    job.analyzer_finds("rank-exception");
    const ReportResult result = job.report(std::chrono::milliseconds(3100));
    CHECK(bounded_text(result.fields.cause) == "rank-exception");
}

TEST_CASE("root takes nothing but a whole result about one of its steps") {
    ReportResult result{};
    result.magic = kReportMagic;
    result.has_line = 1;
    result.step = 2;
    const std::string bytes(reinterpret_cast<const char*>(&result), sizeof result);
    ReportResult read{};
    CHECK(read_report_result(bytes, 3, read));
    CHECK_FALSE(read_report_result(bytes, 2, read));
    CHECK_FALSE(read_report_result(bytes.substr(1), 3, read));
    CHECK_FALSE(read_report_result(std::string(sizeof result, '\xff'), 3, read));
    CHECK_FALSE(read_report_result("", 3, read));
}

}  // namespace
}  // namespace inquest::epilog
