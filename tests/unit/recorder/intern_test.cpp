#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "spank/recorder/inquest.h"
#include "tests/unit/catch.h"
#include "tests/unit/recorder/box_fixture.h"

using namespace inquest::recorder_test;

namespace {

uint32_t intern(const std::string& text) {
    return inquest_box_intern(text.data(), text.size());
}

void write_texts(const std::vector<uint32_t>& idents) {
    uint32_t texts[INQUEST_BOX_RECORD_TEXTS] = {};
    std::memcpy(texts, idents.data(), idents.size() * sizeof(uint32_t));
    inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_ENVIRONMENT, 0, texts, nullptr);
}

}  // namespace

TEST_CASE("equal texts share one identifier and long ones are cut") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        write_texts({intern("train.py"), intern(""), intern(std::string(5000, 'x')), intern("train.py")});
        return intern("train.py") == intern("train.py") ? 0 : 1;
    });
    REQUIRE(status == 0);
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    const inquest_box_record record = box->records(INQUEST_RING_EVENTS).back();
    CHECK(box->text(record.text[0]) == "train.py");
    CHECK(record.text[1] != INQUEST_BOX_NO_STRING);
    CHECK(box->text(record.text[1]).empty());
    CHECK(box->text(record.text[2]) == std::string(INQUEST_BOX_STRING_MAX_BYTES, 'x'));
    CHECK(record.text[3] == record.text[0]);
}

TEST_CASE("a full string area drops, counts and keeps what it has") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        const uint32_t first = intern("first");
        uint32_t last = first;
        for (int i = 0; i < 40000; i++) {
            last = intern(std::to_string(i));
        }
        return last == INQUEST_BOX_NO_STRING && intern("first") == first ? 0 : 1;
    });
    REQUIRE(status == 0);
    const auto box = read_box(directory.files().front());
    REQUIRE(box);
    CHECK(box->live().dropped_strings > 0);
    CHECK(box->live().strings_used_bytes <= INQUEST_BOX_STRINGS_BYTES);
    CHECK(box->live().strings_used_bytes > INQUEST_BOX_STRINGS_BYTES - 16);
}

namespace {

/* What `count` threads get when each interns the same 500 texts. */
std::vector<std::vector<uint32_t>> intern_in_threads(size_t count) {
    std::vector<std::vector<uint32_t>> idents(count, std::vector<uint32_t>(500));
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (auto& own : idents) {
        threads.emplace_back([&own] {
            for (size_t i = 0; i < own.size(); i++) {
                own[i] = intern("name " + std::to_string(i));
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    return idents;
}

}  // namespace

TEST_CASE("threads that intern the same texts get the same identifiers") {
    TemporaryDirectory directory;
    const int status = run_in_child([&] {
        inquest_box_claim(directory.path().c_str(), nullptr);
        const auto idents = intern_in_threads(4);
        return idents[0] == idents[1] && idents[1] == idents[2] && idents[2] == idents[3] ? 0 : 1;
    });
    CHECK(status == 0);
}
