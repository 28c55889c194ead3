#include "analyzer/evidence/text.h"

#include "tests/unit/catch.h"

using namespace inquest::evidence;
using namespace std::string_literals;

TEST_CASE("invalid bytes become replacement characters") {
    CHECK(clean_text("grün\t1\n") == "grün\t1\n");
    CHECK(clean_text("a\0b"s) ==
          "a\xEF\xBF\xBD"
          "b");
    CHECK(clean_text("\xFFx\xC3") == "\xEF\xBF\xBDx\xEF\xBF\xBD");
    CHECK(clean_text("\xE2\x82x") == "\xEF\xBF\xBD\xEF\xBF\xBDx");
    CHECK(clean_text("\xF5\x80\x80\x80").size() == 12);
    CHECK(is_valid_utf8(clean_text("\xED\xA0\x80 \xC0\x80 \xF4\x90\x80\x80")));
}

TEST_CASE("numbers are whole or nothing") {
    CHECK(parse_integer("-12") == -12);
    CHECK_FALSE(parse_integer(""));
    CHECK_FALSE(parse_integer("12x"));
    CHECK_FALSE(parse_integer("99999999999999999999"));
}

TEST_CASE("rank lists") {
    CHECK(parse_rank_list("0-3") == std::vector<int>{0, 1, 2, 3});
    CHECK(parse_rank_list("0,2,5-6") == std::vector<int>{0, 2, 5, 6});
    CHECK(parse_rank_list("[0, 1, 7]") == std::vector<int>{0, 1, 7});
    for (const char* bad : {"", "[]", "a", "3-1", "-1", "0-", "0-99999999999", "0-1000000", "1,,2"}) {
        CHECK(parse_rank_list(bad).empty());
    }
}

TEST_CASE("host lists") {
    CHECK(expand_host_list("n1") == std::vector<std::string>{"n1"});
    CHECK(expand_host_list("n[08-10],login") == std::vector<std::string>{"n08", "n09", "n10", "login"});
    CHECK(expand_host_list("gpu[1,3]-ib") == std::vector<std::string>{"gpu1-ib", "gpu3-ib"});
    CHECK(expand_host_list("n[1-100000]").empty());
    CHECK(expand_host_list("n[1-2").empty());
    CHECK(expand_host_list("n[[1]]").empty());
}
