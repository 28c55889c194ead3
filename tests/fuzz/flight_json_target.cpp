#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/text.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    evidence::Notes notes;
    const auto record =
        evidence::read_flight_record("flight-1-1.json", fuzz::text_of(data, size), evidence::Limits(), notes);
    if (!record) {
        fuzz::require(!notes.take().empty(), "what is no dump is named");
        return 0;
    }
    for (const auto& entry : record->entries) {
        fuzz::require(evidence::is_valid_utf8(entry.operation), "texts are valid UTF-8");
    }
    return 0;
}
