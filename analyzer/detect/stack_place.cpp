#include "analyzer/detect/stack_place.h"

#include <algorithm>

#include "analyzer/detect/library_file.h"

namespace inquest::detect {
namespace {

using Thread = model::PythonStack::Thread;

bool is_library(const model::Place& frame) {
    return !frame.known() || frame.file.front() == '<' || is_library_file(frame.file);
}

model::Place own_frame(const RankView& view, bool Thread::*wanted) {
    if (!view.rank->stack) return {};
    for (const Thread& thread : view.rank->stack->threads) {
        if (!(thread.*wanted)) continue;
        const auto own = std::find_if_not(thread.frames.begin(), thread.frames.end(), is_library);
        if (own != thread.frames.end()) return *own;
    }
    return {};
}

}  // namespace

model::Place place_or_stack(const RankView& view) {
    const model::Place& known = place_of(view);
    return known.known() ? known : own_frame(view, &Thread::is_main);
}

model::Place crash_place(const RankView& view) {
    return own_frame(view, &Thread::crashed);
}

}  // namespace inquest::detect
