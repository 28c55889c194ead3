#include "analyzer/evidence/python_stack.h"

#include "tests/unit/catch.h"

using namespace inquest::evidence;

namespace {

constexpr const char* kTwoThreads =
    "Thread 0x00007f1b (most recent call first):\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n"
    "\n"
    "Current thread 0x00007f1c (most recent call first):\n"
    "  File \"/opt/torch/autograd/graph.py\", line 829 in _engine_run_backward\n"
    "  File \"train.py\", line 84 in train_step\n"
    "  File \"train.py\", line 120 in <module>\n";

std::optional<inquest::model::PythonStack> read(std::string_view text, Notes& notes) {
    return read_python_stack("stack-1-2.txt", text, Limits(), notes);
}

}  // namespace

TEST_CASE("the main thread ends a dump") {
    Notes notes;
    CHECK(looks_like_python_stack(kTwoThreads));
    const auto stack = read(kTwoThreads, notes);
    REQUIRE(stack);
    REQUIRE(stack->threads.size() == 2);
    CHECK_FALSE(stack->threads[0].is_main);
    CHECK(stack->threads[1].is_main);
    REQUIRE(stack->threads[1].frames.size() == 3);
    CHECK(stack->threads[1].frames[1].file == "train.py");
    CHECK(stack->threads[1].frames[1].function == "train_step");
    CHECK(stack->threads[1].frames[1].line == 84);
}

TEST_CASE("of several dumps the newest counts") {
    std::string second(kTwoThreads);
    second.replace(second.find("line 84"), 7, "line 99");
    Notes notes;
    const auto stack = read(std::string(kTwoThreads) + second, notes);
    REQUIRE(stack);
    CHECK(stack->threads.size() == 2);
    CHECK(stack->threads[1].frames[1].line == 99);
}

TEST_CASE("a newest dump without any frame does not hide the one before") {
    Notes notes;
    const auto stack =
        read(std::string(kTwoThreads) + "Current thread 0x01 (most recent call first):\n", notes);
    REQUIRE(stack);
    CHECK(stack->threads.size() == 2);
}

TEST_CASE("a fatal error starts a dump") {
    Notes notes;
    const auto stack = read(std::string(kTwoThreads) +
                                "Fatal Python error: Segmentation fault\n\n"
                                "Current thread 0x00007f1c (most recent call first):\n"
                                "  File \"a \"odd\", line 3 in x.py\", line 7 in f\n"
                                "  File ???, line ??? in g\n"
                                "\nExtension modules: numpy.core (total: 1)\n",
                            notes);
    REQUIRE(stack);
    REQUIRE(stack->threads.size() == 1);
    CHECK(stack->threads[0].frames[0].file == "a \"odd\", line 3 in x.py");
    CHECK(stack->threads[0].frames[0].line == 7);
    CHECK(stack->threads[0].frames[1].line == 0);
    CHECK(stack->threads[0].frames[1].function == "g");
    CHECK(stack->threads[0].crashed);
}

TEST_CASE("a dump of more threads than faulthandler lists has no known main thread") {
    Notes notes;
    const auto stack =
        read("Thread 0x01 (most recent call first):\n  File \"a.py\", line 1 in f\n\n...\n", notes);
    REQUIRE(stack);
    CHECK_FALSE(stack->threads[0].is_main);
}

TEST_CASE("text without a stack is named") {
    Notes notes;
    CHECK_FALSE(read("", notes));
    CHECK_FALSE(read("hello\n  File \"x\", line 1 in y\n", notes));
    CHECK(notes.take().at(0).count == 2);
}

TEST_CASE("a process that runs no Python code has no stack, and nothing is damaged") {
    Notes notes;
    CHECK_FALSE(read("Current thread 0x01 (most recent call first):\n  <no Python frame>\n", notes));
    CHECK(notes.take().empty());
}
