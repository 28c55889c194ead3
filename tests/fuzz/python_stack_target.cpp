#include "analyzer/evidence/python_stack.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace inquest;
    evidence::Notes notes;
    const auto stack =
        evidence::read_python_stack("stack-1-1.txt", fuzz::text_of(data, size), evidence::Limits(), notes);
    if (!stack) return 0;
    size_t frames = 0;
    for (const auto& thread : stack->threads)
        frames += thread.frames.size();
    fuzz::require(frames > 0, "a stack has a frame");
    return 0;
}
