#include "spank/replicas/exchange_text.h"

#include "spank/replicas/comparison.h"
#include "tests/fuzz/target.h"

namespace {

using namespace inquest;

// What was understood is written as a line again and means the same.
void check_line(std::string_view line, replicas::Comparison& comparison) {
    const auto record = replicas::parse_record(line);
    if (!record) return;
    const std::string written = replicas::format_record(*record);
    fuzz::require(written.empty() || written.size() <= replicas::kMaxLineBytes, "lines are bounded");
    if (!written.empty()) {
        const auto again = replicas::parse_record(written);
        fuzz::require(again && replicas::format_record(*again) == written, "a line means one record");
    }
    comparison.add(*record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    replicas::Comparison comparison;
    std::string_view text = fuzz::text_of(data, size);
    while (!text.empty()) {
        const size_t end = text.find('\n');
        check_line(text.substr(0, end), comparison);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    comparison.finish();
    while (comparison.take_difference()) {
    }
    return 0;
}
