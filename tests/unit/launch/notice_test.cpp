#include "spank/launch/notice.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "spank/launch/notice_source.h"
#include "spank/launch/printable.h"
#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

class Report {
 public:
    Report() {
        char name[] = "/tmp/inquest-test-XXXXXX";
        root_ = mkdtemp(name);
        std::filesystem::create_directory(path());
    }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;
    ~Report() { std::filesystem::remove_all(root_); }

    std::string path() const { return root_ + "/inquest-7"; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path() + "/" + name) << text;
    }

 private:
    std::string root_;
};

}  // namespace

TEST_CASE("a notice is printed once, and again only when the last one differs") {
    NoticePrinter printer;
    CHECK(printer.next(std::nullopt, false).empty());
    CHECK(printer.next("one", false) == "one\n");
    CHECK(printer.next("one", false).empty());
    CHECK(printer.next("two\n", false).empty());
    CHECK(printer.next("two\n", true) == "inquest: updated\ntwo\n");
    NoticePrinter steady;
    CHECK(steady.next("one\n", false) == "one\n");
    CHECK(steady.next("one\n", true).empty());
}

TEST_CASE("text for a terminal keeps letters of all languages and no control") {
    CHECK(printable("plain ~\n") == "plain ~\n");
    CHECK(printable("\033[31mred\r\t\x7f\a") == "?[31mred????");
    CHECK(printable("größe 数 \xf0\x9f\x98\x80") == "größe 数 \xf0\x9f\x98\x80");
    CHECK(printable("\xc2\x9b"
                    "31m") == "??31m");                  /* C1 control sequence introducer */
    CHECK(printable("\xe2\x82") == "??");                /* cut */
    CHECK(printable("\xc0\xaf\xed\xa0\x80") == "?????"); /* overlong, surrogate */
    CHECK(printable(std::string("a\0b", 3)) == "a?b");
}

TEST_CASE("a notice is read when it is there") {
    Report report;
    NoticeSource source(report.path(), "0");
    CHECK_FALSE(source.read());
    report.write("notice-1.txt", "other step");
    CHECK_FALSE(source.read());
    report.write("notice-0.txt", "text");
    CHECK(source.read()->text == "text");
    CHECK(source.read()->written_ns > 0);
    report.write("notice-0.txt", std::string(2 * kNoticeMaxBytes, 'x'));
    CHECK(source.read()->text.size() == kNoticeMaxBytes);
    report.write("notice-0.txt", "");
    REQUIRE(source.read());
    CHECK(source.read()->text.empty());
}

TEST_CASE("links, pipes and absent directories give no notice") {
    Report report;
    NoticeSource source(report.path(), "0");
    report.write("target", "secret");
    std::filesystem::create_symlink(report.path() + "/target", report.path() + "/notice-0.txt");
    CHECK_FALSE(source.read());
    std::filesystem::remove(report.path() + "/notice-0.txt");
    REQUIRE(mkfifo((report.path() + "/notice-0.txt").c_str(), 0600) == 0);
    CHECK_FALSE(source.read());
    CHECK_FALSE(NoticeSource(report.path() + "/none", "0").read());
}

TEST_CASE("an empty notice says nothing, or takes back what was printed before") {
    NoticePrinter printer;
    CHECK(printer.next("", false).empty());
    CHECK(printer.next("one", false) == "one\n");
    const std::string line = printer.next("", false);
    CHECK(line.starts_with("inquest: taken back: "));
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    CHECK(printer.next("", true).empty());
    CHECK(printer.next(std::nullopt, true).empty());
    CHECK(printer.next("two", false).empty());
    CHECK(printer.next("two", true) == "inquest: updated\ntwo\n");
}

TEST_CASE("a notice is expected once the step's evidence exists") {
    Report report;
    NoticeSource source(report.path(), "0");
    CHECK_FALSE(source.evidence_written_ns());
    std::filesystem::create_directories(report.path() + "/evidence/1");
    CHECK_FALSE(source.evidence_written_ns());
    std::filesystem::create_directories(report.path() + "/evidence/0/n1");
    CHECK(source.evidence_written_ns() == 0);
    report.write("evidence/0/n1/node.json", "{}");
    CHECK(source.evidence_written_ns() > 0);
}

TEST_CASE("only a notice that follows the last evidence and the end is final") {
    constexpr int64_t kSecond = 1000000000;
    constexpr int64_t kEnd = 100 * kSecond;
    const auto written = [](int64_t seconds) { return Notice{"text", seconds * kSecond}; };
    CHECK(is_final(written(101), 100 * kSecond, kEnd, 101 * kSecond));
    CHECK_FALSE(is_final(std::nullopt, 90 * kSecond, kEnd, 104 * kSecond));
    CHECK_FALSE(is_final(written(90), 80 * kSecond, kEnd, 101 * kSecond));  /* more may come */
    CHECK(is_final(written(90), 80 * kSecond, kEnd, 102 * kSecond));        /* nothing came */
    CHECK_FALSE(is_final(written(90), 101 * kSecond, kEnd, 104 * kSecond)); /* evidence it does not know */
}
