// Every log of <project>/../shared/cases against its truth. Skipped aloud where the folder is absent.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/evidence/read_evidence.h"
#include "tests/unit/analyzer/detect/diagnose_helper.h"

namespace fs = std::filesystem;
using namespace inquest::test;

namespace {

bool acceptable(const std::string& cause, const nlohmann::json& truth) {
    const std::string wanted = truth["cause"];
    if (cause == wanted) return true;
    for (const std::string other : truth["acceptable"]) {
        if (cause == other) return true;
    }
    const bool ours = shipped_knowledge().find(wanted) != nullptr;
    return !ours && shipped_knowledge().find(cause)->fallback;
}

}  // namespace

TEST_CASE("logs of real failures") {
    const fs::path folder = INQUEST_TEST_CASES;
    if (!fs::is_directory(folder)) {
        std::cout << "SKIPPED: no cases in " << folder << std::endl;
        return;
    }
    int right = 0;
    int total = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::ifstream file(entry.path() / "truth.json");
        if (!file) continue;
        const auto truth = nlohmann::json::parse(file);
        const auto timeline = inquest::evidence::read_evidence({(entry.path() / "job.log").string()});
        REQUIRE(timeline);
        const auto diagnosis = diagnosis_of(*timeline);
        INFO(entry.path().filename().string() << ": " << diagnosis.cause << " instead of " << truth["cause"]);
        CHECK(acceptable(diagnosis.cause, truth));
        right += diagnosis.cause == truth["cause"].get<std::string>() ? 1 : 0;
        ++total;
    }
    std::cout << "cases: " << right << " of " << total << " exact" << std::endl;
}
