/* What the tests of a decision start from, and how they look at it. */
#pragma once

#include "spank/launch/decision.h"

inline inquest::launch::DecisionInputs plain_inputs() {
    using namespace inquest::launch;
    DecisionInputs inputs;
    inputs.request.job_id = 7;
    inputs.request.step = "0";
    inputs.request.working_directory = "/home/ada";
    inputs.installation = {.library = "/lib/libinquest.so", .python_directory = "/lib/python"};
    const auto add = [&](When when, How how, std::string separator,
                         std::vector<std::pair<std::string, std::string>> values) {
        Setting setting;
        setting.when = std::move(when);
        setting.how = how;
        setting.separator = std::move(separator);
        setting.values = std::move(values);
        inputs.settings.push_back(setting);
    };
    When strict;
    strict.deterministic = {"strict"};
    When seed;
    seed.seed = true;
    When debug;
    debug.nccl_debug = {"WARN", "INFO"};
    add({}, How::kPrepend, ":", {{"PYTHONPATH", "{hook_dir}"}});
    add({}, How::kSet, "", {{"NEW", "5"}, {"OLD", "5"}});
    add({}, How::kSet, "", {{"PREFIX", "{box_dir}/x_"}});
    add(strict, How::kAppend, " ", {{"FLAGS", "--a=true"}});
    add(strict, How::kAppend, " ", {{"FLAGS", "--b=1"}});
    add(strict, How::kSet, "", {{"STRICT", "1"}});
    add(seed, How::kSet, "", {{"HASHSEED", "{seed}"}});
    add(debug, How::kSet, "", {{"DEBUG", "{nccl_debug}"}, {"DEBUG_FILE", "{box_dir}/%h"}});
    add({}, How::kHook, "", {{"torch.f", "(1)"}});
    return inputs;
}

/* "(unset)" when the decision does not set the name. */
inline std::string value(const inquest::launch::Decision& decision, const std::string& name) {
    for (const auto& assignment : decision.assignments) {
        if (assignment.name == name) {
            return assignment.value;
        }
    }
    return "(unset)";
}

/* The environment after the decision, as the step's tasks have it, with what a node adds. */
inline inquest::launch::Environment applied(const inquest::launch::DecisionInputs& inputs) {
    inquest::launch::Environment environment = inputs.environment;
    for (const auto& assignment : decide(inputs).assignments) {
        environment[assignment.name] = assignment.value;
    }
    for (const std::string& name : inquest::launch::split(environment["INQUEST_TAKEN_AWAY"], ',')) {
        environment.erase(name);
    }
    environment.erase("INQUEST_TAKEN_AWAY");
    environment["INQUEST_BOX_DIR"] =
        "/run/inquest/" + std::to_string(inputs.request.job_id) + "." + inputs.request.step;
    return environment;
}
