#include "analyzer/evidence/record_context.h"

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

std::string RecordContext::text(const inquest_box_record& record, int slot) {
    const auto found = image_.string(record.text[slot]);
    if (found) return clean_text(*found);
    note("black box: text identifier points nowhere");
    return {};
}

std::vector<int> RecordContext::ranks(const inquest_box_record& record, int slot) {
    const std::string list = text(record, slot);
    std::vector<int> ranks = parse_rank_list(list);
    if (ranks.empty() && !list.empty()) note("black box: unreadable rank list");
    return ranks;
}

model::Place RecordContext::place(const inquest_box_record& record) {
    return {text(record, INQUEST_TEXT_FILE), text(record, INQUEST_TEXT_FUNCTION),
            record.number[INQUEST_NUMBER_LINE]};
}

}  // namespace inquest::evidence
