#include "spank/launch/decision.h"

#include <algorithm>
#include <filesystem>

#include "spank/format/step_journal.h"
#include "spank/launch/joined_value.h"
#include "spank/launch/placeholders.h"
#include "spank/launch/report_name.h"
#include "spank/launch/users_environment.h"

namespace inquest::launch {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& part : list) {
        text += (text.empty() ? "" : ",") + part;
    }
    return text;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (!contains(list, text)) {
        list.push_back(text);
    }
}

std::string report_directory(const DecisionInputs& inputs) {
    const Request& request = inputs.request;
    std::filesystem::path base = request.working_directory;
    if (request.directory) {
        base /= *request.directory; /* an absolute one replaces the working directory */
    }
    const std::string name =
        report_name(request.job_id, request.step, inputs.environment,
                    [&](const std::string& taken) { return inputs.is_taken((base / taken).string()); });
    return (base / name).lexically_normal().string();
}

std::optional<std::string> reason_against(const Request& request, const std::string& path) {
    if (request.off) {
        return "this step is not to have Inquest";
    }
    if (path.empty() || path.front() != '/') {
        return "the working directory cannot be read";
    }
    if (path.size() > kReportPathMaxBytes) {
        return "the path of the report directory is too long";
    }
    if (has_control_character(path)) {
        return "the path of the report directory has control characters";
    }
    return std::nullopt;
}

template <typename Value>
std::optional<Value> first_of(const std::optional<Value>& option, const std::optional<Value>& site) {
    return option ? option : site;
}

std::string box_directory(const Request& request) {
    return std::string(INQUEST_RUN_DIRECTORY "/") + std::to_string(request.job_id) + "." + request.step;
}

/* Collects the assignments and what becomes of the names that the settings ask for. */
class Collector {
 public:
    explicit Collector(const DecisionInputs& inputs)
        : inputs_(inputs),
          context_{.parameters = parameters_of(inputs.request, inputs.site),
                   .box_directory = box_directory(inputs.request),
                   .hook_directory = inputs.installation.python_directory},
          users_(users_environment(inputs.environment, inputs.settings, context_.hook_directory)) {}

    void add_settings() {
        for (const Setting& setting : inputs_.settings) {
            if (!applies(setting.when, context_.parameters)) {
                continue;
            }
            if (setting.how == How::kSet) {
                add_set(setting);
            } else if (setting.how != How::kHook) {
                add_joined(setting);
            }
        }
    }

    void add_own(const std::string& report) {
        const Request& request = inputs_.request;
        const Parameters& parameters = context_.parameters;
        uint32_t stall_seconds = request.stall_seconds.value_or(inputs_.site.stall_seconds);
        assign("INQUEST_REPORT_DIR", report, request.directory ? "--inquest-dir" : "working directory");
        assign("INQUEST_STALL_SECONDS", std::to_string(stall_seconds), origin(request.stall_seconds));
        assign("INQUEST_LIBRARY", inputs_.installation.library, "installed here");
        assign("INQUEST_PROFILE", parameters.profile, origin(request.profile));
        assign("INQUEST_DIGEST_SHARE", digest_share(), "site configuration");
        if (parameters.deterministic != kDeterministicModes.front()) {
            assign("INQUEST_DETERMINISTIC", parameters.deterministic, origin(request.deterministic));
        }
        add_number("INQUEST_SEED", parameters.seed, origin(request.seed));
        add_number("INQUEST_TIMEOUT_SECONDS", parameters.timeout_seconds, origin(request.timeout_seconds));
        if (parameters.nccl_debug) {
            assign("INQUEST_NCCL_DEBUG", *parameters.nccl_debug, origin(request.nccl_debug));
        }
        assign("INQUEST_ON_DIVERGENCE", request.on_divergence.value_or(inputs_.site.on_divergence),
               origin(request.on_divergence));
        assign("INQUEST_INJECTED", joined(injected_), "names that were set");
        assign("INQUEST_LEFT_ALONE", joined(left_alone_), "names that the user had set");
    }

    /* Gives back what an enclosing armed step had changed and this one does not. Only nodes can take a
     * variable away (spank/plugin/taken_away.h). */
    void restore() {
        std::vector<std::string> taken_away;
        for (const auto& [name, value] : inputs_.environment) {
            auto users = users_.find(name);
            if (find(name) != nullptr) {
                continue;
            }
            if (users == users_.end()) {
                taken_away.push_back(name);
            } else if (users->second != value) {
                assign(name, users->second, "the user's, without what an enclosing armed step had added");
            }
        }
        if (!taken_away.empty()) {
            assign("INQUEST_TAKEN_AWAY", joined(taken_away), "an enclosing armed step had set them");
        }
    }

    void arm() { assign("INQUEST_ARMED", "1", "last: a cut answer arms nothing"); }

    std::vector<Assignment> take() { return std::move(assignments_); }

 private:
    template <typename Value>
    static const char* origin(const std::optional<Value>& option) {
        return option ? "option" : "site configuration";
    }

    std::string digest_share() const {
        auto found = inputs_.site.digest_share_ppm.find(context_.parameters.profile);
        return std::to_string(found == inputs_.site.digest_share_ppm.end() ? 0 : found->second);
    }

    void add_number(const char* name, const std::optional<uint32_t>& number, const char* reason) {
        if (number) {
            assign(name, std::to_string(*number), reason);
        }
    }

    void add_set(const Setting& setting) {
        bool is_users = false;
        for (const auto& [name, value] : setting.values) {
            if (users_.count(name) != 0) {
                add_once(left_alone_, name);
                is_users = true;
            }
        }
        for (const auto& [name, value] : setting.values) {
            if (!is_users) {
                inject(name, rendered(value, context_), setting.what);
            }
        }
    }

    void add_joined(const Setting& setting) {
        for (const auto& [name, value] : setting.values) {
            auto whole = with_part(setting, current(name), rendered(value, context_));
            if (whole) {
                inject(name, *whole, setting.what);
            } else {
                add_once(left_alone_, name);
            }
        }
    }

    /* The value as far as this decision went. */
    std::optional<std::string> current(const std::string& name) {
        if (const Assignment* assignment = find(name)) {
            return assignment->value;
        }
        auto found = users_.find(name);
        return found == users_.end() ? std::nullopt : std::optional(found->second);
    }

    void inject(const std::string& name, const std::string& value, const std::string& reason) {
        if (!contains(inputs_.site.never_set, name)) {
            assign(name, value, reason);
            add_once(injected_, name);
        }
    }

    void assign(const std::string& name, const std::string& value, const std::string& reason) {
        if (Assignment* assignment = find(name)) {
            assignment->value = value;
        } else {
            assignments_.push_back({name, value, reason});
        }
    }

    Assignment* find(const std::string& name) {
        auto found = std::find_if(assignments_.begin(), assignments_.end(),
                                  [&](const Assignment& assignment) { return assignment.name == name; });
        return found == assignments_.end() ? nullptr : &*found;
    }

    const DecisionInputs& inputs_;
    Context context_;
    Environment users_;
    std::vector<Assignment> assignments_;
    std::vector<std::string> injected_;
    std::vector<std::string> left_alone_;
};

}  // namespace

Parameters parameters_of(const Request& request, const SiteConfiguration& site) {
    return {.profile = request.profile.value_or(site.profile),
            .deterministic = request.deterministic.value_or(site.deterministic),
            .seed = first_of(request.seed, site.seed),
            .nccl_debug = first_of(request.nccl_debug, site.nccl_debug),
            .timeout_seconds = first_of(request.timeout_seconds, site.timeout_seconds)};
}

Decision decide(const DecisionInputs& inputs) {
    const std::string report = report_directory(inputs);
    const auto reason = reason_against(inputs.request, report);
    Collector collector(inputs);
    if (!reason) {
        collector.add_settings();
        collector.add_own(report);
    }
    collector.restore();
    if (!reason) {
        collector.arm();
    }
    return {.assignments = collector.take(), .disarmed = reason};
}

}  // namespace inquest::launch
