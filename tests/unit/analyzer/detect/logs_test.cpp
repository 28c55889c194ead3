// What plain logs decide, and what they do not.
#include "tests/unit/analyzer/detect/diagnose_helper.h"
#include "tests/unit/analyzer/detect/log_builder.h"

using namespace inquest;
using namespace inquest::test;

TEST_CASE("the first traceback that is not a witness's names rank and line") {
    const auto diagnosis = diagnosis_of(
        log_of({"[rank2]: Traceback (most recent call last):",
                "[rank2]:   File \"/home/user/train.py\", line 12, in load", "[rank2]:     return table[key]",
                "[rank2]: KeyError: 'v3'", "RuntimeError: Connection closed by peer [10.0.0.2]:99"}));
    CHECK(diagnosis.cause == "rank-exception");
    CHECK(ranks_in(diagnosis.initiating) == std::vector<int>{2});
    CHECK(diagnosis.initiating.front().place.line == 12);
}

TEST_CASE("a traceback of a witness decides nothing") {
    const auto diagnosis =
        diagnosis_of(log_of({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "    f()",
                             "RuntimeError: Connection closed by peer [10.0.0.2]:99"}));
    CHECK(diagnosis.cause == "unknown");
}

TEST_CASE("frames of the hook are nobody's program") {
    const auto diagnosis = diagnosis_of(log_of(
        {"[rank2]: Traceback (most recent call last):",
         "[rank2]:   File \"/home/user/train.py\", line 12, in step", "[rank1]:     loss.backward()",
         "[rank2]:   File \"/opt/inquest/lib/inquest/python/inquest_hook/patches/torch_core.py\", line 80, "
         "in "
         "inquest_call",
         "[rank2]:   File \"/venv/lib/python3.11/site-packages/torch/_tensor.py\", line 5, in backward",
         "[rank2]: RuntimeError: element 0 of tensors does not require grad"}));
    CHECK(diagnosis.cause == "rank-exception");
    CHECK(diagnosis.initiating.front().place.file == "/home/user/train.py");
}

TEST_CASE("torchrun's exit codes") {
    CHECK(diagnosis_of(log_of({"E failed (exitcode: -9) local_rank: 0 (pid: 5) of binary: python"})).cause ==
          "killed-by-signal");
    CHECK(diagnosis_of(log_of({"E failed (exitcode: -11) local_rank: 0 (pid: 5) of binary: python"})).cause ==
          "segmentation-fault");
    CHECK(diagnosis_of(log_of({"E failed (exitcode: -6) local_rank: 0 (pid: 5) of binary: python"})).cause ==
          "unknown");
}

TEST_CASE("an empty log decides nothing") {
    CHECK(diagnosis_of(log_of({})).cause == "unknown");
}
