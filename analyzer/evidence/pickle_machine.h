// The stack machine behind read_pickle.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/pickle_opcodes.h"
#include "analyzer/evidence/value_tree.h"

namespace inquest::evidence {

class PickleMachine {
 public:
    PickleMachine(std::string_view bytes, const Limits& limits) : bytes_(bytes), limits_(limits) {}
    Document run() &&;

 private:
    // Each returns false after it has set damage_.
    bool step(Opcode opcode);
    bool step_text(Opcode opcode);
    bool step_container(Opcode opcode);
    bool step_memo(Opcode opcode);
    bool step_rare(Opcode opcode);
    bool refuse(Opcode opcode);
    [[gnu::cold]] bool fail(std::string_view what);
    bool push(Value value);
    bool push_text(ValueKind kind, uint64_t size);
    bool push_long(uint64_t size);
    bool push_new(ValueKind kind);
    bool pop(size_t count);
    bool pop_mark();
    bool collect(ValueKind kind, size_t count);
    bool collect_from_mark(ValueKind kind);
    bool append(size_t count);
    bool append_from_mark();
    bool put(uint64_t index);
    bool get(uint64_t index);

    // Little-endian integer of kSize bytes at the cursor; false at the end of the input.
    template <size_t kSize>
    bool take(uint64_t& value);
    size_t above_mark() const { return stack_.size() - marks_.back(); }
    bool has_above_mark(size_t count) const;
    void salvage();

    std::string_view bytes_;
    const Limits& limits_;
    size_t at_ = 0;
    bool stopped_ = false;
    std::vector<Value> stack_;
    std::vector<size_t> marks_;
    std::vector<Value> memo_;
    Document document_;
};

}  // namespace inquest::evidence
