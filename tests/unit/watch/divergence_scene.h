/* A node whose replicas differ, with an analyzer and a scancel that do as the test wants. */
#ifndef INQUEST_TESTS_UNIT_WATCH_DIVERGENCE_SCENE_H
#define INQUEST_TESTS_UNIT_WATCH_DIVERGENCE_SCENE_H

#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "spank/watch/step_watch.h"
#include "tests/unit/catch.h"
#include "tests/unit/replicas/box_builder.h"

namespace inquest::test {

using watch::StepWatch;
using watch::WorkerPrograms;
using Json = nlohmann::json;

constexpr uint64_t kSecond = 1000000000;
constexpr int kPatience = 20000;
constexpr const char* kHealthy = R"({"step": "0", "cause": "healthy", "end": "healthy"})";
constexpr const char* kDiverged = R"({"step": "0", "cause": "some-cause", "family": "weight-divergence",
    "confidence": "certain", "end": "silent"})";

/* A node with two ranks; the analyzer says what the test wants it to say. */
struct Scene {
    explicit Scene(const char* verdict, uint32_t flags = 0, uint32_t node_count = 1) {
        node.flags = flags;
        node.node_count = node_count;
        node.local_task_count = 2;
        write_program("analyzer", "cp '" + (node.root() / "verdict").string() + "' \"$4/diagnosis.json\"");
        write_program("scancel", "echo \"$@\" >> '" + (node.root() / "cancelled").string() + "'");
        set_verdict(verdict);
        for (const BoxBuilder& box : boxes)
            node.write_process(box.process(), 'S', 1ULL << 39U);
        write_boxes();
        wait_for_children();
        start_watch();
    }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;
    ~Scene() {
        watch.reset();
        wait_for_children();
    }
    static void wait_for_children() {
        while (waitpid(-1, nullptr, 0) > 0) {
        }
    }

    void start_watch() {
        watch.emplace(node.system(), WorkerPrograms{node.root() / "analyzer", node.root() / "scancel", {}});
        REQUIRE(watch->handle(node.start_message()) == INQUEST_STEP_REPLY_DONE);
        tick();
    }
    void set_verdict(const char* verdict) const { write_file(node.root() / "verdict", verdict); }
    void write_other_node(const char* json) const {
        std::filesystem::create_directories(node.evidence() / "n2");
        write_file(node.evidence() / "n2" / "node.json", json);
    }

    void write_program(const std::string& name, const std::string& line) const {
        write_file(node.root() / name,
                   "#!/bin/sh\necho \"$@\" >> '" + (node.root() / name).string() + ".calls'\n" + line + "\n");
        std::filesystem::permissions(node.root() / name, std::filesystem::perms::owner_all);
    }
    [[nodiscard]] size_t calls(const std::string& program) const {
        const std::string lines = read_file(node.root() / (program + ".calls"));
        return static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
    }

    void write_boxes() {
        for (BoxBuilder& box : boxes) {
            box.live().last_progress_mono_ns = node.mono_ns;
            box.write_into(node.boxes());
        }
    }
    void report(int64_t step, uint64_t first, uint64_t second) {
        boxes[0].digest(parameters_after(step, first, 2), "DistributedDataParallel");
        boxes[1].digest(parameters_after(step, second, 2), "DistributedDataParallel");
        write_boxes();
    }

    /* The analyzer and scancel are real processes: time stands still while one runs. */
    void tick() {
        if (has_running_child())
            usleep(500);
        else
            node.mono_ns += kSecond / 5;
        watch->tick();
    }
    static bool has_running_child() {
        siginfo_t ended{};
        return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
    }
    template <typename Condition>
    bool tick_until(Condition condition) {
        for (int turn = 0; turn < kPatience; turn++) {
            if (condition()) return true;
            tick();
        }
        return false;
    }
    void tick_some(int turns = 100) {
        for (int turn = 0; turn < turns; turn++)
            tick();
    }
    void end(int32_t wait_status = 0) {
        for (const BoxBuilder& box : boxes) {
            watch->handle(node.task_message(INQUEST_TASK_START, box.process().pid, box.process().pid));
            watch->handle(
                node.task_message(INQUEST_TASK_EXIT, box.process().pid, box.process().pid, wait_status));
            node.remove_process(box.process());
        }
        CHECK(watch->handle(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    }
    [[nodiscard]] bool has_evidence() const { return std::filesystem::exists(node.evidence()); }
    [[nodiscard]] bool has_report() const { return std::filesystem::exists(node.report()); }
    [[nodiscard]] Json node_json() const {
        return Json::parse(read_file(node.evidence() / "n1" / "node.json"));
    }

    FakeNode node;
    BoxBuilder boxes[2] = {{{815, 4711}, 0, 2}, {{816, 4712}, 1, 2}};
    std::optional<StepWatch> watch;
};

}  // namespace inquest::test

#endif
