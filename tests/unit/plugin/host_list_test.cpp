#include "spank/plugin/host_list.h"

#include <string>

#include "tests/unit/catch.h"

namespace {

std::string name_at(const char* list, uint32_t index) {
    char name[16];
    inquest_host_list_name(list, index, name, sizeof name);
    return name;
}

}  // namespace

TEST_CASE("a host list as Slurm writes them is plain") {
    for (const char* list : {"", "n1", "n[1-4]", "n[1-2,7],gpu3,rack-a.b_c[001-010]"}) {
        CAPTURE(list);
        CHECK(inquest_host_list_is_plain(list));
    }
}

TEST_CASE("a host list that expands without bound, or is none, is refused") {
    for (const char* list :
         {"a[0-60000]b[0-60000]", "a[0-9][0-9]", "n[1", "n]1", "n[[1-2]]", "n1 n2", "n1\n", "../n1"}) {
        CAPTURE(list);
        CHECK_FALSE(inquest_host_list_is_plain(list));
        CHECK(name_at(list, 0).empty());
    }
}

TEST_CASE("names are found by number, and only whole ones") {
    CHECK(name_at("n[1-2,7],gpu3", 2) == "n7");
    CHECK(name_at("n[1-2,7],gpu3", 3) == "gpu3");
    CHECK(name_at("n[1-2,7],gpu3", 4).empty());
    CHECK(name_at("n1", UINT32_MAX).empty());
    CHECK(name_at("a-name-that-is-longer", 0).empty());
}
