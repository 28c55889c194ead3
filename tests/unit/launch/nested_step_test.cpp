/* An srun within an armed step, and a job that is submitted from one: what Inquest set outside is not the
 * user's. */
#include "tests/unit/catch.h"
#include "tests/unit/launch/decision_inputs.h"

namespace {

using namespace inquest::launch;

const Environment kUsers = {
    {"HOME", "/home/ada"}, {"FLAGS", "--mine"}, {"PYTHONPATH", "/mine"}, {"OLD", "9"}};

/* A batch step with everything on. */
DecisionInputs outer_inputs() {
    DecisionInputs inputs = plain_inputs();
    inputs.request.step = "batch";
    inputs.request.deterministic = "strict";
    inputs.request.seed = 5;
    inputs.request.nccl_debug = "INFO";
    inputs.request.timeout_seconds = 60;
    inputs.environment = kUsers;
    return inputs;
}

DecisionInputs inner_inputs() {
    DecisionInputs inputs = plain_inputs();
    inputs.environment = applied(outer_inputs());
    return inputs;
}

/* Without what Inquest itself needs, in an armed step and in one that is not. */
Environment without_own(Environment environment) {
    for (auto entry = environment.begin(); entry != environment.end();) {
        entry = entry->first.rfind("INQUEST_", 0) == 0 ? environment.erase(entry) : std::next(entry);
    }
    return environment;
}

/* What the inner step has in an outer one equals what it has without one. */
void check_same_as_alone(const Request& request) {
    DecisionInputs inner = inner_inputs();
    inner.request = request;
    DecisionInputs alone = inner;
    alone.environment = kUsers;
    CHECK(applied(inner) == applied(alone));
}

}  // namespace

TEST_CASE("a nested step is decided as if there were no outer one, whatever its options") {
    Request request = plain_inputs().request;
    check_same_as_alone(request);
    request.deterministic = "strict";
    check_same_as_alone(request);
    request.seed = 6;
    request.nccl_debug = "WARN";
    check_same_as_alone(request);
    request = outer_inputs().request;
    request.step = "3";
    check_same_as_alone(request);
}

TEST_CASE("a nested step that is not to have Inquest gets the user's environment back") {
    DecisionInputs inputs = inner_inputs();
    inputs.environment.erase("INQUEST_ARMED"); /* the plugin has taken it away */
    inputs.request.off = true;
    Decision decision = decide(inputs);
    CHECK(decision.disarmed);
    CHECK(value(decision, "PYTHONPATH") == "/mine");
    CHECK(value(decision, "OLD") == "(unset)");
    CHECK(value(decision, "INQUEST_TAKEN_AWAY").find("INQUEST_SEED,") != std::string::npos);
    CHECK(value(decision, "INQUEST_TAKEN_AWAY").find("PREFIX,STRICT") != std::string::npos);
    CHECK(without_own(applied(inputs)) == kUsers);
}

TEST_CASE("what the user changed within the outer step is the user's") {
    DecisionInputs inputs = inner_inputs();
    inputs.environment["HASHSEED"] = "6";
    inputs.environment["FLAGS"] += " --later";
    inputs.environment["PYTHONPATH"] = "/new:/lib/python:/mine";
    inputs.request.seed = 7;
    Decision decision = decide(inputs);
    CHECK(value(decision, "HASHSEED") == "(unset)");
    CHECK(value(decision, "INQUEST_LEFT_ALONE") == "OLD,HASHSEED");
    CHECK(value(decision, "FLAGS") == "--mine --later");
    CHECK(value(decision, "PYTHONPATH") == "/lib/python:/new:/mine");
}

TEST_CASE("a value that the user had equal to Inquest's outside an armed step stays") {
    DecisionInputs inputs = plain_inputs();
    inputs.environment = {{"STRICT", "1"}};
    CHECK(decide(inputs).assignments.size() == decide(plain_inputs()).assignments.size());
    CHECK(value(decide(inputs), "STRICT") == "(unset)");
}
