#include "analyzer/evidence/tensor_table_reader.h"
#include "analyzer/evidence/text.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    evidence::Notes notes;
    const auto table = evidence::read_tensor_table("tensors-1-1.ibt", fuzz::text_of(data, size), notes);
    if (!table) {
        fuzz::require(!notes.take().empty(), "an unreadable table is named");
        return 0;
    }
    fuzz::require(table->entries.size() <= INQUEST_TABLE_ENTRIES_MAX, "entries are bounded");
    for (const auto& [part, names] : table->names) {
        for (const auto& [index, tensor] : names)
            fuzz::require(evidence::is_valid_utf8(tensor.name), "names are valid UTF-8");
    }
    return 0;
}
