#include "spank/launch/decision.h"

#include "spank/launch/records.h"
#include "tests/unit/catch.h"
#include "tests/unit/launch/decision_inputs.h"

namespace {

using namespace inquest::launch;

}  // namespace

TEST_CASE("defaults: what has no condition is set, INQUEST_ARMED last") {
    Decision decision = decide(plain_inputs());
    CHECK_FALSE(decision.disarmed);
    CHECK(value(decision, "NEW") == "5");
    CHECK(value(decision, "OLD") == "5");
    CHECK(value(decision, "PREFIX") == "/run/inquest/7.0/x_");
    CHECK(value(decision, "PYTHONPATH") == "/lib/python");
    CHECK(value(decision, "FLAGS") == "(unset)");
    CHECK(value(decision, "torch.f") == "(unset)");
    CHECK(value(decision, "INQUEST_REPORT_DIR") == "/home/ada/inquest-7");
    CHECK(value(decision, "INQUEST_STALL_SECONDS") == "120");
    CHECK(value(decision, "INQUEST_LIBRARY") == "/lib/libinquest.so");
    CHECK(value(decision, "INQUEST_PROFILE") == "standard");
    CHECK(value(decision, "INQUEST_DIGEST_SHARE") == "1000");
    CHECK(value(decision, "INQUEST_ON_DIVERGENCE") == "report");
    for (const char* name :
         {"INQUEST_DETERMINISTIC", "INQUEST_SEED", "INQUEST_NCCL_DEBUG", "INQUEST_TIMEOUT_SECONDS"}) {
        CHECK(value(decision, name) == "(unset)");
    }
    CHECK(value(decision, "INQUEST_INJECTED") == "PYTHONPATH,NEW,OLD,PREFIX");
    CHECK(value(decision, "INQUEST_LEFT_ALONE").empty());
    CHECK(decision.assignments.back().name == "INQUEST_ARMED");
}

TEST_CASE("what the user has set is left alone under all its names, even when it is empty") {
    DecisionInputs inputs = plain_inputs();
    inputs.environment = {{"OLD", ""}};
    Decision decision = decide(inputs);
    CHECK(value(decision, "NEW") == "(unset)");
    CHECK(value(decision, "OLD") == "(unset)");
    CHECK(value(decision, "INQUEST_LEFT_ALONE") == "OLD");
    CHECK(value(decision, "INQUEST_INJECTED") == "PYTHONPATH,PREFIX");
}

TEST_CASE("the user's own variable wins over the option, the option over the site") {
    DecisionInputs inputs = plain_inputs();
    inputs.site.nccl_debug = "WARN";
    inputs.site.seed = 1;
    inputs.site.deterministic = "strict";
    inputs.site.profile = "light";
    inputs.site.timeout_seconds = 9;
    inputs.site.on_divergence = "cancel";
    Decision decision = decide(inputs);
    CHECK(value(decision, "DEBUG") == "WARN");
    CHECK(value(decision, "HASHSEED") == "1");
    CHECK(value(decision, "STRICT") == "1");
    CHECK(value(decision, "INQUEST_DETERMINISTIC") == "strict");
    CHECK(value(decision, "INQUEST_DIGEST_SHARE") == "200");
    CHECK(value(decision, "INQUEST_TIMEOUT_SECONDS") == "9");
    CHECK(value(decision, "INQUEST_ON_DIVERGENCE") == "cancel");

    inputs.request.nccl_debug = "INFO";
    inputs.request.seed = 0;
    inputs.request.deterministic = "off";
    inputs.request.profile = "deep";
    inputs.request.timeout_seconds = 60;
    inputs.request.on_divergence = "report";
    decision = decide(inputs);
    CHECK(value(decision, "DEBUG") == "INFO");
    CHECK(value(decision, "INQUEST_NCCL_DEBUG") == "INFO");
    CHECK(value(decision, "HASHSEED") == "0");
    CHECK(value(decision, "INQUEST_SEED") == "0");
    CHECK(value(decision, "STRICT") == "(unset)");
    CHECK(value(decision, "INQUEST_DETERMINISTIC") == "(unset)");
    CHECK(value(decision, "INQUEST_PROFILE") == "deep");
    CHECK(value(decision, "INQUEST_DIGEST_SHARE") == "50000");
    CHECK(value(decision, "INQUEST_TIMEOUT_SECONDS") == "60");
    CHECK(value(decision, "INQUEST_ON_DIVERGENCE") == "report");

    inputs.environment = {{"DEBUG", "TRACE"}, {"HASHSEED", "3"}};
    decision = decide(inputs);
    CHECK(value(decision, "DEBUG") == "(unset)");
    CHECK(value(decision, "DEBUG_FILE") == "(unset)");
    CHECK(value(decision, "HASHSEED") == "(unset)");
    CHECK(value(decision, "INQUEST_LEFT_ALONE") == "HASHSEED,DEBUG");
}

TEST_CASE("lists are added to and never replaced") {
    DecisionInputs inputs = plain_inputs();
    inputs.request.deterministic = "strict";
    CHECK(value(decide(inputs), "FLAGS") == "--a=true --b=1");
    inputs.environment = {{"FLAGS", "--mine --c=2"}, {"PYTHONPATH", "/mine:/other"}};
    CHECK(value(decide(inputs), "FLAGS") == "--mine --c=2 --a=true --b=1");
    CHECK(value(decide(inputs), "PYTHONPATH") == "/lib/python:/mine:/other");
    inputs.environment = {{"FLAGS", ""}, {"PYTHONPATH", ""}};
    CHECK(value(decide(inputs), "FLAGS") == "--a=true --b=1");
    CHECK(value(decide(inputs), "PYTHONPATH") == "/lib/python");
}

TEST_CASE("a flag on which the user has spoken is left alone, the others are added") {
    DecisionInputs inputs = plain_inputs();
    inputs.request.deterministic = "strict";
    inputs.environment = {{"FLAGS", "--a=false"}};
    Decision decision = decide(inputs);
    CHECK(value(decision, "FLAGS") == "--a=false --b=1");
    CHECK(value(decision, "INQUEST_LEFT_ALONE") == "FLAGS");
    CHECK(value(decision, "INQUEST_INJECTED").find("FLAGS") != std::string::npos);
}

TEST_CASE("a hook that is in front already is not doubled") {
    DecisionInputs inputs = plain_inputs();
    for (const char* path : {"/lib/python", "/lib/python:/mine"}) {
        inputs.environment = {{"PYTHONPATH", path}};
        CHECK(value(decide(inputs), "PYTHONPATH") == path);
    }
    inputs.environment = {{"PYTHONPATH", "/lib/python3"}};
    CHECK(value(decide(inputs), "PYTHONPATH") == "/lib/python:/lib/python3");
}

TEST_CASE("stall time and directory: the user's options win over the site") {
    DecisionInputs inputs = plain_inputs();
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
    DecisionInputs inputs = plain_inputs();
    inputs.site.never_set = {"OLD", "FLAGS"};
    inputs.request.deterministic = "strict";
    Decision decision = decide(inputs);
    CHECK(value(decision, "NEW") == "5");
    CHECK(value(decision, "OLD") == "(unset)");
    CHECK(value(decision, "FLAGS") == "(unset)");
    CHECK(value(decision, "STRICT") == "1");
    CHECK(value(decision, "INQUEST_INJECTED") == "PYTHONPATH,NEW,PREFIX,STRICT");
}

TEST_CASE("paths that cannot be handled disarm with a reason and set nothing") {
    DecisionInputs inputs = plain_inputs();
    for (const std::string& directory :
         {std::string(""), std::string("/a\nb"), "/" + std::string(4000, 'x')}) {
        inputs.request.working_directory = directory;
        Decision decision = decide(inputs);
        CHECK(decision.disarmed);
        CHECK(decision.assignments.empty());
        CHECK(to_records(decision).rfind("INQUEST_DISARMED=", 0) == 0);
    }
}

TEST_CASE("records end by NUL, and too many disarm") {
    Decision decision = {.assignments = {{"A", "1", ""}, {"B", "", ""}}, .disarmed = {}};
    CHECK(to_records(decision) == std::string("A=1\0B=\0", 7));
    decision.disarmed = "why";
    CHECK(to_records(decision) == std::string("A=1\0B=\0INQUEST_DISARMED=why\0", 28));
    decision.assignments.push_back({"D", std::string(kRecordsMaxBytes, 'x'), ""});
    CHECK(to_records(decision).rfind("INQUEST_DISARMED=the environment", 0) == 0);
}
