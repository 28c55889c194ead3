#include "spank/plugin/site_arguments.h"

#include "inquest_paths.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/fake_spank.h"

namespace {

inquest_site_arguments parse(std::vector<std::string> arguments) {
    fake_spank() = {};
    static std::vector<std::string> kept; /* the result points into it */
    kept = std::move(arguments);
    std::vector<char*> pointers;
    pointers.reserve(kept.size());
    for (std::string& argument : kept) {
        pointers.push_back(argument.data());
    }
    inquest_site_arguments site = {};
    inquest_site_arguments_parse(static_cast<int>(pointers.size()), pointers.data(), &site);
    return site;
}

}  // namespace

TEST_CASE("defaults are the installed places and off") {
    inquest_site_arguments site = parse({});
    CHECK(std::string(site.launch_path) == INQUEST_PATH_LAUNCH);
    CHECK(std::string(site.notice_path) == INQUEST_PATH_NOTICE);
    CHECK(site.default_on == 0);
}

TEST_CASE("arguments override them") {
    inquest_site_arguments site = parse({"launch=/a", "notice=/b=c", "default=on"});
    CHECK(std::string(site.launch_path) == "/a");
    CHECK(std::string(site.notice_path) == "/b=c");
    CHECK(site.default_on == 1);
    CHECK(fake_spank().messages.empty());
}

TEST_CASE("what is not understood is reported and changes nothing") {
    inquest_site_arguments site = parse({"launch", "launch=relative", "default=maybe", "colour=red", ""});
    CHECK(std::string(site.launch_path) == INQUEST_PATH_LAUNCH);
    CHECK(site.default_on == 0);
    CHECK(fake_spank().messages.size() == 5);
}
