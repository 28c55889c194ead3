#include "spank/launch/decision.h"

#include "spank/launch/records.h"
#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

DecisionInputs plain() {
    DecisionInputs inputs;
    inputs.request = {
        .job_id = 7, .step = "0", .stall_seconds = {}, .directory = {}, .working_directory = "/home/ada"};
    inputs.installation = {.library = "/lib/libinquest.so", .python_directory = "/lib/python"};
    inputs.profile.settings = {{.names = {"NEW", "OLD"}, .value = "5", .why = "why"},
                               {.names = {"PREFIX"}, .value = "{box_dir}/x_", .why = ""}};
    return inputs;
}

std::string value(const Decision& decision, const std::string& name) {
    for (const Setting& setting : decision.settings) {
        if (setting.name == name) {
            return setting.value;
        }
    }
    return "(unset)";
}

}  // namespace

TEST_CASE("defaults: everything is set, INQUEST_ARMED last") {
    Decision decision = decide(plain());
    CHECK_FALSE(decision.disarmed);
    CHECK(value(decision, "NEW") == "5");
    CHECK(value(decision, "OLD") == "5");
    CHECK(value(decision, "PREFIX") == "/run/inquest/7.0/x_");
    CHECK(value(decision, "PYTHONPATH") == "/lib/python");
    CHECK(value(decision, "INQUEST_REPORT_DIR") == "/home/ada/inquest-7");
    CHECK(value(decision, "INQUEST_STALL_SECONDS") == "120");
    CHECK(value(decision, "INQUEST_LIBRARY") == "/lib/libinquest.so");
    CHECK(value(decision, "INQUEST_INJECTED") == "NEW,OLD,PREFIX,PYTHONPATH");
    CHECK(value(decision, "INQUEST_LEFT_ALONE").empty());
    CHECK(decision.settings.back().name == "INQUEST_ARMED");
}

TEST_CASE("what the user has set is left alone under all its names, even when it is empty") {
    DecisionInputs inputs = plain();
    inputs.environment = {{"OLD", ""}};
    Decision decision = decide(inputs);
    CHECK(value(decision, "NEW") == "(unset)");
    CHECK(value(decision, "OLD") == "(unset)");
    CHECK(value(decision, "INQUEST_LEFT_ALONE") == "OLD");
    CHECK(value(decision, "INQUEST_INJECTED") == "PREFIX,PYTHONPATH");
}

TEST_CASE("what an enclosing armed step had set is set anew, what the user changed since is not") {
    DecisionInputs inputs = plain();
    inputs.environment = {{"INQUEST_INJECTED", "NEW,OLD,PREFIX,PYTHONPATH"},
                          {"INQUEST_BOX_DIR", "/run/inquest/7.batch"},
                          {"NEW", "5"},
                          {"OLD", "5"},
                          {"PREFIX", "/run/inquest/7.batch/x_"},
                          {"PYTHONPATH", "/lib/python:/mine"}};
    Decision decision = decide(inputs);
    CHECK(value(decision, "PREFIX") == "/run/inquest/7.0/x_");
    CHECK(value(decision, "PYTHONPATH") == "/lib/python:/mine");
    CHECK(value(decision, "INQUEST_LEFT_ALONE").empty());
    inputs.environment["NEW"] = "6";
    CHECK(value(decide(inputs), "INQUEST_LEFT_ALONE") == "NEW");
}

TEST_CASE("the hook comes before the user's PYTHONPATH") {
    DecisionInputs inputs = plain();
    inputs.environment = {{"PYTHONPATH", "/mine:/other"}};
    CHECK(value(decide(inputs), "PYTHONPATH") == "/lib/python:/mine:/other");
    inputs.environment = {{"PYTHONPATH", ""}};
    CHECK(value(decide(inputs), "PYTHONPATH") == "/lib/python");
}

TEST_CASE("the user's options win over the site") {
    DecisionInputs inputs = plain();
    inputs.site.stall_seconds = 60;
    CHECK(value(decide(inputs), "INQUEST_STALL_SECONDS") == "60");
    inputs.request.stall_seconds = 9;
    inputs.request.directory = "../bob/./runs";
    CHECK(value(decide(inputs), "INQUEST_STALL_SECONDS") == "9");
    CHECK(value(decide(inputs), "INQUEST_REPORT_DIR") == "/home/bob/runs/inquest-7");
    inputs.request.directory = "/scratch/";
    CHECK(value(decide(inputs), "INQUEST_REPORT_DIR") == "/scratch/inquest-7");
}

TEST_CASE("a site can keep single names out") {
    DecisionInputs inputs = plain();
    inputs.site.never_set = {"OLD"};
    CHECK(value(decide(inputs), "NEW") == "5");
    CHECK(value(decide(inputs), "OLD") == "(unset)");
}

TEST_CASE("paths that cannot be handled disarm with a reason and set nothing") {
    DecisionInputs inputs = plain();
    for (const std::string& directory :
         {std::string(""), std::string("/a\nb"), "/" + std::string(4000, 'x')}) {
        inputs.request.working_directory = directory;
        Decision decision = decide(inputs);
        CHECK(decision.disarmed);
        CHECK(decision.settings.empty());
        CHECK(to_records(decision).rfind("INQUEST_DISARMED=", 0) == 0);
    }
}

TEST_CASE("records end by NUL, and too many disarm") {
    Decision decision = {.settings = {{"A", "1", ""}, {"B", "", ""}}, .disarmed = {}};
    CHECK(to_records(decision) == std::string("A=1\0B=\0", 7));
    decision.settings.push_back({"C", std::string(kRecordsMaxBytes, 'x'), ""});
    CHECK(to_records(decision).rfind("INQUEST_DISARMED=", 0) == 0);
}
