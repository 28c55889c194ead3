#include "analyzer/evidence/flight_record.h"
#include "analyzer/evidence/pickle.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    const std::string_view bytes = fuzz::text_of(data, size);
    evidence::Limits limits;
    limits.tree_values = 1'000'000;
    const evidence::Document document = evidence::read_pickle(bytes, limits);
    fuzz::require(document.tree.size() <= 4 * bytes.size() + 16, "the tree is linear in the input");
    evidence::Notes notes;
    evidence::read_flight_record("_dump_3", bytes, limits, notes);
    return 0;
}
