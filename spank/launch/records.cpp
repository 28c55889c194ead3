#include "spank/launch/records.h"

namespace inquest::launch {
namespace {

std::string disarmed_record(const std::string& reason) {
    return "INQUEST_DISARMED=" + reason + '\0';
}

}  // namespace

std::string to_records(const Decision& decision) {
    std::string records;
    for (const Assignment& assignment : decision.assignments) {
        records += assignment.name + "=" + assignment.value + '\0';
    }
    records += decision.disarmed ? disarmed_record(*decision.disarmed) : "";
    return records.size() <= kRecordsMaxBytes ? records : disarmed_record("the environment is too large");
}

std::string to_text(const Decision& decision) {
    std::string text;
    for (const Assignment& assignment : decision.assignments) {
        text +=
            "inquest-launch: " + assignment.name + "=" + assignment.value + "  (" + assignment.reason + ")\n";
    }
    return text + (decision.disarmed ? "inquest-launch: disarmed: " + *decision.disarmed + "\n" : "");
}

}  // namespace inquest::launch
