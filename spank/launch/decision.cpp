#include "spank/launch/decision.h"

#include <algorithm>
#include <filesystem>

#include "spank/format/step_journal.h"

namespace inquest::launch {
namespace {

constexpr std::string_view kBoxPlaceholder = "{box_dir}";

std::string value_of(const Environment& environment, const std::string& name) {
    auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

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

std::string rendered(std::string value, const std::string& box_directory) {
    size_t at = value.find(kBoxPlaceholder);
    if (at != std::string::npos) {
        value.replace(at, kBoxPlaceholder.size(), box_directory);
    }
    return value;
}

std::string report_directory(const Request& request) {
    std::filesystem::path base = request.working_directory;
    if (request.directory) {
        base /= *request.directory; /* an absolute one replaces the working directory */
    }
    return (base / ("inquest-" + std::to_string(request.job_id))).lexically_normal().string();
}

std::optional<std::string> reason_against(const std::string& path) {
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

/* Collects the settings and what becomes of the names that a profile asks for. */
class Collector {
 public:
    explicit Collector(const DecisionInputs& inputs)
        : inputs_(inputs),
          box_directory_(std::string(INQUEST_RUN_DIRECTORY "/") + std::to_string(inputs.request.job_id) +
                         "." + inputs.request.step),
          outer_injected_(split(value_of(inputs.environment, "INQUEST_INJECTED"), ',')),
          outer_box_directory_(value_of(inputs.environment, "INQUEST_BOX_DIR")) {}

    void add_profile() {
        for (const ProfileSetting& setting : inputs_.profile.settings) {
            add_profile_setting(setting);
        }
    }

    void add_python_path() {
        const std::string& hook = inputs_.installation.python_directory;
        std::string users = value_of(inputs_.environment, "PYTHONPATH");
        std::vector<std::string> entries = split(users, ':');
        if (!entries.empty() && entries.front() == hook) {
            inject("PYTHONPATH", users, "the hook was already in front");
            return;
        }
        /* No colon after the hook alone: an empty entry would mean the working directory. */
        inject("PYTHONPATH", users.empty() ? hook : hook + ":" + users,
               "loads the hook, then the user's entries");
    }

    void add_own(const std::string& report) {
        const Request& request = inputs_.request;
        uint32_t stall_seconds = request.stall_seconds.value_or(inputs_.site.stall_seconds);
        add("INQUEST_REPORT_DIR", report, request.directory ? "--inquest-dir" : "working directory");
        add("INQUEST_STALL_SECONDS", std::to_string(stall_seconds),
            request.stall_seconds ? "--inquest-stall" : "site configuration");
        add("INQUEST_LIBRARY", inputs_.installation.library, "installed here");
        add("INQUEST_INJECTED", joined(injected_), "names that were set");
        add("INQUEST_LEFT_ALONE", joined(left_alone_), "names that the user had set");
        add("INQUEST_ARMED", "1", "last: a cut answer arms nothing");
    }

    std::vector<Setting> take() { return std::move(settings_); }

 private:
    /* An enclosing armed step passes its environment on: what Inquest itself set there is not the user's. */
    bool is_users(const std::string& name, const ProfileSetting& setting) const {
        auto found = inputs_.environment.find(name);
        if (found == inputs_.environment.end()) {
            return false;
        }
        return !contains(outer_injected_, name) ||
               found->second != rendered(setting.value, outer_box_directory_);
    }

    void add_profile_setting(const ProfileSetting& setting) {
        size_t before = left_alone_.size();
        for (const std::string& name : setting.names) {
            if (is_users(name, setting)) {
                left_alone_.push_back(name);
            }
        }
        if (left_alone_.size() != before) {
            return;
        }
        for (const std::string& name : setting.names) {
            if (!contains(inputs_.site.never_set, name)) {
                inject(name, rendered(setting.value, box_directory_), setting.why);
            }
        }
    }

    void inject(const std::string& name, const std::string& value, const std::string& reason) {
        add(name, value, reason);
        injected_.push_back(name);
    }

    void add(const std::string& name, const std::string& value, const std::string& reason) {
        settings_.push_back({.name = name, .value = value, .reason = reason});
    }

    const DecisionInputs& inputs_;
    std::string box_directory_;
    std::vector<std::string> outer_injected_;
    std::string outer_box_directory_;
    std::vector<Setting> settings_;
    std::vector<std::string> injected_;
    std::vector<std::string> left_alone_;
};

}  // namespace

Decision decide(const DecisionInputs& inputs) {
    std::string report = report_directory(inputs.request);
    if (auto reason = reason_against(report)) {
        return {.settings = {}, .disarmed = reason};
    }
    Collector collector(inputs);
    collector.add_profile();
    collector.add_python_path();
    collector.add_own(report);
    return {.settings = collector.take(), .disarmed = std::nullopt};
}

}  // namespace inquest::launch
