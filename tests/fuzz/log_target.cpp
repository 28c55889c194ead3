#include "analyzer/evidence/log_reader.h"
#include "analyzer/evidence/log_time.h"
#include "analyzer/evidence/text.h"
#include "analyzer/report/sanitize.h"
#include "tests/fuzz/target.h"

namespace {

using namespace inquest;

model::LogFile read(std::string_view text, size_t cut) {
    evidence::Limits limits;
    limits.log_line_bytes = 100;
    limits.log_head_bytes = 500;
    limits.log_tail_bytes = 500;
    evidence::Notes notes;
    evidence::LogReader reader("job.log", limits, notes);
    reader.feed(text.substr(0, cut));
    reader.feed(text.substr(cut));
    model::LogFile log = reader.finish();
    evidence::resolve_years(log, 1'700'000'000'000'000'000);
    return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const model::LogFile whole = read(text, text.size());
    const model::LogFile halves = read(text, text.size() / 2);
    fuzz::require(whole.lines.size() == halves.lines.size(), "pieces give the same lines");
    for (size_t i = 0; i < whole.lines.size(); ++i) {
        fuzz::require(whole.lines[i].text == halves.lines[i].text, "pieces give the same text");
        fuzz::require(evidence::is_valid_utf8(whole.lines[i].text), "lines are valid UTF-8");
        report::redact(whole.lines[i].text);
    }
    return 0;
}
