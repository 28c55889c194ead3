#include "spank/launch/records.h"

namespace inquest::launch {
namespace {

std::string disarmed_record(const std::string& reason) {
    return "INQUEST_DISARMED=" + reason + '\0';
}

}  // namespace

std::string to_records(const Decision& decision) {
    if (decision.disarmed) {
        return disarmed_record(*decision.disarmed);
    }
    std::string records;
    for (const Setting& setting : decision.settings) {
        records += setting.name + "=" + setting.value + '\0';
    }
    return records.size() <= kRecordsMaxBytes ? records : disarmed_record("the environment is too large");
}

std::string to_text(const Decision& decision) {
    if (decision.disarmed) {
        return "inquest-launch: disarmed: " + *decision.disarmed + "\n";
    }
    std::string text;
    for (const Setting& setting : decision.settings) {
        text += "inquest-launch: " + setting.name + "=" + setting.value + "  (" + setting.reason + ")\n";
    }
    return text;
}

}  // namespace inquest::launch
