#include "analyzer/evidence/node_json.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    evidence::Notes notes;
    const auto node =
        evidence::read_node_json("node.json", fuzz::text_of(data, size), evidence::Limits(), notes);
    fuzz::require(node || !notes.take().empty(), "what is no node evidence is named");
    return 0;
}
