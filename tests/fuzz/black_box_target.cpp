#include "analyzer/evidence/black_box_reader.h"
#include "analyzer/evidence/text.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    evidence::Notes notes;
    const auto box = evidence::read_black_box("box-1-1.ibb", fuzz::text_of(data, size), notes);
    if (!box) {
        fuzz::require(!notes.take().empty(), "an unreadable box is named");
        return 0;
    }
    model::WallNs before = 0;
    for (const auto& call : box->rank.collectives) {
        fuzz::require(call.begin_wall_ns >= before, "calls are sorted by time");
        before = call.begin_wall_ns;
        fuzz::require(evidence::is_valid_utf8(call.operation), "texts are valid UTF-8");
    }
    return 0;
}
