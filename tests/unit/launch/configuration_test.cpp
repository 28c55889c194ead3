#include "spank/launch/site_configuration.h"

#include <filesystem>
#include <fstream>

#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

SiteReading reading_of(const std::string& text) {
    SiteReading reading;
    apply_site_file("f", text, reading);
    return reading;
}

/* FILE:LINE of each finding. */
std::vector<std::string> places(const SiteReading& reading) {
    std::vector<std::string> places;
    for (const Finding& finding : reading.findings) {
        places.push_back(finding.file + ":" + std::to_string(finding.line));
    }
    return places;
}

using Places = std::vector<std::string>;

class Directory {
 public:
    Directory() {
        char name[] = "/tmp/inquest-test-XXXXXX";
        path_ = mkdtemp(name);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { std::filesystem::remove_all(path_); }

    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = path_ + "/" + name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path) << text;
        return path;
    }
    const std::string& path() const { return path_; }

 private:
    std::string path_;
};

}  // namespace

TEST_CASE("the shipped configuration holds the defaults and every key") {
    SiteReading reading = read_site_configuration(INQUEST_TEST_CONFIGS "/inquest.yaml");
    const SiteConfiguration defaults;
    CHECK(reading.findings.empty());
    CHECK(reading.site.stall_seconds == defaults.stall_seconds);
    CHECK(reading.site.profile == defaults.profile);
    CHECK(reading.site.deterministic == defaults.deterministic);
    CHECK(reading.site.seed == defaults.seed);
    CHECK(reading.site.nccl_debug == defaults.nccl_debug);
    CHECK(reading.site.timeout_seconds == defaults.timeout_seconds);
    CHECK(reading.site.on_divergence == defaults.on_divergence);
    CHECK(reading.site.digest_share_ppm == defaults.digest_share_ppm);
    CHECK(reading.site.never_set == defaults.never_set);
    std::ifstream file(INQUEST_TEST_CONFIGS "/inquest.yaml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const char* key : {"stall_seconds", "profile", "deterministic", "seed", "nccl_debug",
                            "timeout_seconds", "on_divergence", "digest_share_ppm", "never_set"}) {
        CAPTURE(key);
        CHECK(text.find("\n" + std::string(key) + ":") != std::string::npos);
    }
}

TEST_CASE("all keys are read") {
    SiteReading reading = reading_of(
        "stall_seconds: 30\nprofile: deep\ndeterministic: warn\nseed: 4294967295\nnccl_debug: INFO\n"
        "timeout_seconds: 604800\non_divergence: cancel\ndigest_share_ppm: {deep: 0}\nnever_set: [A, B_2]\n");
    CHECK(reading.findings.empty());
    CHECK(reading.site.stall_seconds == 30);
    CHECK(reading.site.profile == "deep");
    CHECK(reading.site.deterministic == "warn");
    CHECK(reading.site.seed == 4294967295);
    CHECK(reading.site.nccl_debug == "INFO");
    CHECK(reading.site.timeout_seconds == 604800);
    CHECK(reading.site.on_divergence == "cancel");
    CHECK(reading.site.digest_share_ppm ==
          std::map<std::string, uint32_t>{{"light", 200}, {"standard", 1000}, {"deep", 0}});
    CHECK(reading.site.never_set == std::vector<std::string>{"A", "B_2"});
}

TEST_CASE("an unknown key is told with its line and the others count") {
    SiteReading reading = reading_of("# comment\ncolour: red\nprofile: light\n\nstall_second: 5\n");
    CHECK(places(reading) == Places{"f:2", "f:5"});
    CHECK(reading.site.profile == "light");
    CHECK(reading.site.stall_seconds == 120);
    CHECK(
        to_text(reading.findings[0]).rfind("f:2: there is no key colour: write one of stall_seconds, ", 0) ==
        0);
}

TEST_CASE("a value of the wrong type keeps the default, tells its line and what to write") {
    for (const char* line : {"stall_seconds: soon",
                             "stall_seconds: 0",
                             "stall_seconds: -1",
                             "stall_seconds: 86401",
                             "stall_seconds: 1.5",
                             "stall_seconds: 0x10",
                             "stall_seconds: [5]",
                             "stall_seconds:",
                             "profile: ../x",
                             "profile: ''",
                             "profile: Standard",
                             "deterministic: true",
                             "seed: 4294967296",
                             "seed: x",
                             "nccl_debug: LOUD",
                             "timeout_seconds: 604801",
                             "timeout_seconds: {a: 1}",
                             "digest_share_ppm: 5",
                             "digest_share_ppm: {deeper: 1}",
                             "digest_share_ppm: {deep: 1000001}",
                             "never_set: 5",
                             "never_set: [A B]",
                             "never_set: [[A]]"}) {
        CAPTURE(line);
        SiteReading reading = reading_of("on_divergence: cancel\n" + std::string(line) + "\n");
        CHECK(places(reading) == Places{"f:2"});
        CHECK(to_text(reading.findings.at(0)).find("has an impossible value: write ") != std::string::npos);
        CHECK(reading.site.on_divergence == "cancel");
        CHECK(reading.site.stall_seconds == 120);
        CHECK(reading.site.digest_share_ppm == SiteConfiguration{}.digest_share_ppm);
        CHECK(reading.site.never_set.empty());
    }
}

TEST_CASE("an action that there is not keeps the default") {
    SiteReading reading = reading_of("on_divergence: requeue\n");
    CHECK(places(reading) == Places{"f:1"});
    CHECK(reading.site.on_divergence == "report");
}

TEST_CASE("a text that is no YAML or no mapping has no effect and says where") {
    for (const auto& [text, place] : std::map<std::string, std::string>{
             {"profile: deep\nseed: [1\n", "f:3"}, {"- a", "f:1"}, {"just text", "f:1"}, {"[", "f:1"}}) {
        CAPTURE(text);
        SiteReading reading = reading_of(text);
        CHECK(places(reading) == Places{place});
        CHECK(reading.site.profile == "standard");
    }
    CHECK(reading_of(std::string("\x01\x02", 2)).findings.size() == 1);
    CHECK(reading_of("").findings.empty());
    CHECK(reading_of("# only a comment\n").findings.empty());
}

TEST_CASE("a key that stands twice in one file is told") {
    SiteReading reading = reading_of("seed: 1\nseed: 2\n");
    CHECK(places(reading) == Places{"f:2"});
    CHECK(reading.site.seed == 2);
}

TEST_CASE("a finding is one line that is fit for a terminal") {
    CHECK(to_text({"f", 0, "a\nb\033[31m"}) == "f: a b?[31m");
}

TEST_CASE("drop-ins are read in the order of names and later ones win") {
    Directory directory;
    const std::string main = directory.write("inquest.yaml", "profile: light\nseed: 1\nstall_seconds: 10\n");
    directory.write("inquest.yaml.d/20-b.yaml", "seed: null\ndigest_share_ppm: {light: 2}\n");
    const std::string bad =
        directory.write("inquest.yaml.d/10-a.yaml", "seed: 5\nprofile: deep\nwhat: 1\nstall_seconds: x\n");
    directory.write("inquest.yaml.d/30-c.yaml.bak", "profile: standard\n");
    directory.write("inquest.yaml.d/.40-d.yaml", "profile: standard\n");
    SiteReading reading = read_site_configuration(main);
    CHECK(places(reading) == Places{bad + ":3", bad + ":4"});
    CHECK(reading.site.profile == "deep");
    CHECK_FALSE(reading.site.seed);
    CHECK(reading.site.stall_seconds == 10);
    CHECK(reading.site.digest_share_ppm ==
          std::map<std::string, uint32_t>{{"light", 2}, {"standard", 1000}, {"deep", 50000}});
}

TEST_CASE("drop-ins need no main file, and files that cannot be read are told") {
    Directory directory;
    directory.write("inquest.yaml.d/a.yaml", "profile: deep\n");
    std::filesystem::create_directory(directory.path() + "/inquest.yaml.d/b.yaml");
    std::filesystem::create_symlink("/dev/zero", directory.path() + "/inquest.yaml.d/c.yaml");
    std::filesystem::create_symlink("/nonexistent", directory.path() + "/inquest.yaml.d/d.yaml");
    SiteReading reading = read_site_configuration(directory.path() + "/inquest.yaml");
    CHECK(reading.site.profile == "deep");
    CHECK(reading.findings.size() == 3);
    CHECK(read_site_configuration("/nonexistent").findings.empty());
}
