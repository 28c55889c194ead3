// Golden files of the three renderings. INQUEST_UPDATE_GOLDEN=1 writes them anew; read the difference before
// committing.
#include "analyzer/report/render.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzer/report/sanitize.h"
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/timeline_builder.h"

using namespace inquest;
using namespace inquest::test;

namespace {

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void compare(const std::string& name, const std::string& text) {
    const std::string path = std::string(INQUEST_TEST_GOLDEN) + "/" + name;
    if (std::getenv("INQUEST_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    INFO(path);
    CHECK(read_file(path) == text);
}

model::Diagnosis deadlock() {
    TimelineBuilder build(4);
    for (int rank = 0; rank < 4; ++rank) {
        build.backward(rank, 61, 1, 1.5);
        if (rank == 2) {
            build.waits(rank, "barrier", 90, 2);
        } else {
            build.backward(rank, 61, 2.1);
        }
    }
    return report::make_safe(diagnosis_of(build.timeline()));
}

model::Diagnosis exception() {
    TimelineBuilder build(2);
    build.all_call("all_reduce", 31, 1).raises(1, "KeyError", "'v3' token=abcdef\x1b[31m", 12, 2);
    build.waits(0, "all_reduce", 31, 1.9).loses_peer(0, 31, 2.1);
    return report::make_safe(diagnosis_of(build.timeline()));
}

}  // namespace

TEST_CASE("golden files") {
    compare("deadlock.json", report::render_json(deadlock()));
    compare("deadlock.txt", report::render_text(deadlock()));
    compare("deadlock-notice.txt",
            report::render_notice(deadlock(), "/home/user/run/inquest-4711/report.txt"));
    compare("exception.json", report::render_json(exception()));
    compare("exception.txt", report::render_text(exception()));
    compare("exception-notice.txt",
            report::render_notice(exception(), "/home/user/run/inquest-4711/report.txt"));
}

TEST_CASE("the notice fits its frame") {
    for (model::Diagnosis diagnosis : {deadlock(), exception()}) {
        for (int copy = 0; copy < 40; ++copy) {
            diagnosis.collateral.push_back({100 + copy, "n1", line(copy + 1), std::string(300, 'x')});
        }
        diagnosis.summary += std::string(500, 'y') + " " + std::string(500, 'z');
        std::istringstream lines(report::render_notice(diagnosis, "/" + std::string(400, 'p')));
        size_t count = 0;
        for (std::string text; std::getline(lines, text); ++count)
            CHECK(text.size() <= 120);
        CHECK(count <= 12);
    }
}

TEST_CASE("the same evidence gives the same bytes") {
    CHECK(report::render_json(deadlock()) == report::render_json(deadlock()));
}
