#include "spank/launch/settings_text.h"

#include <algorithm>

namespace inquest::launch {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : separator) + word;
    }
    return text;
}

std::string condition_text(const When& when) {
    std::vector<std::string> conditions;
    if (!when.profile.empty()) {
        conditions.push_back("profile " + joined(when.profile, " or "));
    }
    if (!when.deterministic.empty()) {
        conditions.push_back("--inquest-deterministic=" + joined(when.deterministic, " or "));
    }
    if (!when.nccl_debug.empty()) {
        conditions.push_back("--inquest-nccl-debug=" + joined(when.nccl_debug, " or "));
    }
    if (when.seed) {
        conditions.emplace_back(*when.seed ? "--inquest-seed is given" : "no --inquest-seed is given");
    }
    if (when.timeout) {
        conditions.emplace_back(*when.timeout ? "--inquest-timeout is given"
                                              : "no --inquest-timeout is given");
    }
    return conditions.empty() ? "in every armed step" : joined(conditions, ", and ");
}

std::string how_text(const Setting& setting) {
    switch (setting.how) {
        case How::kAppend:
            return "appended to the user's own value";
        case How::kPrepend:
            return "put before the user's own value";
        case How::kHook:
            return "done by the Python hook in each rank; what the program sets itself wins";
        case How::kSet:
            break;
    }
    return "set, unless the user has set one of the names";
}

std::string line(const char* label, const std::string& text) {
    std::string padded = label;
    padded.resize(10, ' ');
    return "    " + padded + text + "\n";
}

std::string entry_text(const Setting& setting) {
    std::string text = "  " + setting.id + "\n";
    for (const auto& [name, value] : setting.values) {
        text.append("    ").append(name).append(setting.how == How::kHook ? " " : "=").append(value) += '\n';
    }
    return text + line("does", setting.what) + line("why", setting.why) + line("cost", setting.cost) +
           line("since", setting.since) + line("when", condition_text(setting.when)) +
           line("how", how_text(setting));
}

std::string those_in(const Setting& setting, const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const auto& [name, value] : setting.values) {
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            found.push_back(name);
        }
    }
    return joined(found, ", ");
}

std::string fate_text(const Setting& setting, const StepNames& step) {
    const std::string left_alone = those_in(setting, step.left_alone);
    const std::string injected = those_in(setting, step.injected);
    if (!left_alone.empty()) {
        return "left alone: the job's user had set " + left_alone;
    }
    if (!injected.empty()) {
        return "set: " + injected;
    }
    return setting.how == How::kHook ? "see the report: the hook records what it did"
                                     : "not set: its condition did not hold, or never_set keeps it out";
}

}  // namespace

std::string settings_text(const std::vector<Setting>& settings, const std::optional<StepNames>& step) {
    std::string text;
    std::string group;
    for (const Setting& setting : settings) {
        if (setting.group != group) {
            group = setting.group;
            text += (text.empty() ? "" : "\n") + group + "\n";
        }
        text += entry_text(setting) + (step ? line("here", fate_text(setting, *step)) : "");
    }
    return text;
}

}  // namespace inquest::launch
