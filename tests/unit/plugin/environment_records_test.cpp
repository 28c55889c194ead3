#include "spank/plugin/environment_records.h"

#include <cstring>
#include <memory>

#include "tests/unit/catch.h"

namespace {

using namespace std::string_literals;

std::unique_ptr<inquest_records> records_of(const std::string& bytes) {
    auto records = std::make_unique<inquest_records>();
    std::memcpy(records->bytes, bytes.data(), bytes.size());
    records->used_bytes = bytes.size();
    return records;
}

inquest_answer check(const std::string& bytes) {
    auto records = records_of(bytes);
    return inquest_records_check(records.get());
}

}  // namespace

TEST_CASE("a complete answer is taken apart in order") {
    auto records = records_of("A=1\0B_2=x=y\0C=\0INQUEST_ARMED=1\0"s);
    REQUIRE(inquest_records_check(records.get()) == INQUEST_ANSWER_ARMED);
    size_t position = 0;
    const char* name = nullptr;
    const char* value = nullptr;
    std::string all;
    while (inquest_records_next(records.get(), &position, &name, &value)) {
        all += std::string(name) + ":" + value + ";";
    }
    CHECK(all == "A:1;B_2:x=y;C:;INQUEST_ARMED:1;");
}

TEST_CASE("a reason alone disarms") {
    CHECK(check("INQUEST_DISARMED=why\0"s) == INQUEST_ANSWER_DISARMED);
    CHECK(check("INQUEST_DISARMED=why\0A=1\0"s) == INQUEST_ANSWER_BROKEN);
}

TEST_CASE("a disarmed answer may set variables back") {
    CHECK(check("A=1\0INQUEST_DISARMED=why\0"s) == INQUEST_ANSWER_DISARMED);
}

TEST_CASE("a cut answer arms nothing, wherever it was cut") {
    const std::string whole = "A=1\0B=2\0INQUEST_ARMED=1\0"s;
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CHECK(check(whole.substr(0, bytes)) == INQUEST_ANSWER_BROKEN);
    }
}

TEST_CASE("one bad record spoils the answer") {
    for (const std::string& bad : {"\0"s, "=x\0"s, "A\0"s, "1A=x\0"s, "A B=x\0"s, "A-B=x\0"s}) {
        CHECK(check(bad + "INQUEST_ARMED=1\0"s) == INQUEST_ANSWER_BROKEN);
    }
}
