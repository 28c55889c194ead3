#include "analyzer/report/sanitize.h"

#include "tests/unit/catch.h"

using namespace inquest::report;

TEST_CASE("nothing that a terminal obeys gets through") {
    CHECK(printable("a\x1b[31mb") == "a?[31mb");
    CHECK(printable("a\nb\tc\rd") == "a b c?d");
    CHECK(printable(std::string("a\0b", 3)) == "a?b");
    CHECK(printable("\xC2\x9B\x7F") == "??");
    CHECK(printable("x\xE2\x80\xAEy") == "x?y");
}

TEST_CASE("only valid UTF-8 gets through") {
    CHECK(printable("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
    CHECK(printable("\xC0\xAF") == "??");
    CHECK(printable("\xED\xA0\x80") == "???");
    CHECK(printable("\xF5\x80\x80\x80") == "????");
    CHECK(printable("\xE2\x82") == "??");
}

TEST_CASE("long texts are cut at a character") {
    CHECK(printable(std::string(5000, 'a'), 10) == "aaaaaaa...");
    CHECK(printable("aaaaaa\xC3\xBC\xC3\xBC\xC3\xBC", 10) == "aaaaaa...");
}
