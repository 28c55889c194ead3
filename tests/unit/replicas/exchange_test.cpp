#include "spank/harvest/report_directory.h"
#include "spank/replicas/exchange_file.h"
#include "spank/replicas/exchange_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/replicas/box_builder.h"

using namespace inquest::replicas;
using inquest::test::FakeNode;
using inquest::test::parameters_after;

namespace {

ReplicaRecord digest_at(int64_t step) {
    return {{0xabcU, 1000, 3, 4}, parameters_after(step, 7, 4)};
}

/* A lead that reads and another node that writes. */
struct Scene {
    Scene() {
        node.node_index = 1;
        node.node_count = 2;
    }
    [[nodiscard]] std::filesystem::path file() const { return node.report() / "digests" / "0" / "n2"; }
    std::vector<int64_t> read_steps() {
        std::vector<int64_t> steps;
        reader.poll(
            node.step(), look, [] { return true; },
            [&](const ReplicaRecord& record) { steps.push_back(std::get<StateDigest>(record.what).step); });
        return steps;
    }

    FakeNode node;
    ExchangeWriter writer;
    ExchangeReader reader;
    ExchangeReader::Look look = ExchangeReader::Look::changed;
};

}  // namespace

TEST_CASE("a record is the same after it was a line") {
    const ReplicaRecord digest = digest_at(5);
    const ReplicaRecord pass{{1, 2, 3, 4}, SamplerPass{1, -1, 4, 3, 250, 1000}};
    const ReplicaRecord piece{{1, 2, 3, 4}, SampleHashes{1, 64, 7, {5, UINT64_MAX, 0, 0, 0}}};
    for (const ReplicaRecord& record : {digest, pass, piece}) {
        const auto again = parse_record(format_record(record));
        REQUIRE(again);
        CHECK(format_record(*again) == format_record(record));
    }
    CHECK(std::get<StateDigest>(parse_record(format_record(digest))->what).ranks == "0-3");
}

TEST_CASE("a line of anything else is no record") {
    const std::string line = format_record(digest_at(5));
    for (size_t bytes = 0; bytes + 1 < line.size(); bytes++)
        if (const auto record = parse_record(line.substr(0, bytes))) CHECK(format_record(*record) != line);
    for (const char* text :
         {"", " ", "d", "x 1 2 3 4", "d 1 2 3 4 5 6 7 8 9 1 2 3", "d 1 2 3 4 1 -5 4 1 4 0 1 2 0-3",
          "d 1 2 3 4 1 5 9 1 4 0 1 2 0-3", "d 1 2 -3 4 1 5 4 1 4 0 1 2 0-3", "s 1 2 3 4 1 64 8 1 2 3 4 5",
          "p 1 2 3 4 1 2 3 4 5 6 7", "d 1  2 3 4 1 5 4 1 4 0 1 2 0-3"})
        CHECK_FALSE(parse_record(text));
    CHECK_FALSE(parse_record(line + std::string(kMaxLineBytes, '0')));
}

TEST_CASE("what a node writes the lead reads once, and knows the end") {
    Scene scene;
    scene.writer.add(digest_at(1));
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
    scene.writer.flush(scene.node.step());
    CHECK(scene.read_steps() == std::vector<int64_t>{1});
    CHECK_FALSE(scene.reader.all_ended());
    scene.writer.add(digest_at(2));
    scene.writer.end(scene.node.step());
    CHECK(scene.read_steps() == std::vector<int64_t>{2});
    CHECK(scene.read_steps().empty());
    CHECK(scene.reader.all_ended());
    CHECK(scene.reader.ended_nodes() == 1);
}

TEST_CASE("a node without digests makes no file") {
    Scene scene;
    scene.writer.add({{1, 2, 3, 4}, SamplerPass{}});
    StateDigest hyperparameters = parameters_after(1, 7, 4);
    hyperparameters.part = INQUEST_PART_HYPERPARAMETERS;
    scene.writer.add({{1, 2, 3, 4}, hyperparameters});
    scene.writer.flush(scene.node.step());
    scene.writer.end(scene.node.step());
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
}

TEST_CASE("a file that was taken away is not made again") {
    Scene scene;
    scene.writer.add(digest_at(1));
    scene.writer.flush(scene.node.step());
    CHECK(scene.writer.exists(scene.node.step()));
    CHECK(scene.read_steps().size() == 1);
    remove_own_digests(scene.node.step());
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
    CHECK_FALSE(scene.writer.exists(scene.node.step()));
    scene.writer.add(digest_at(2));
    scene.writer.end(scene.node.step());
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
    CHECK(scene.read_steps().empty());
    CHECK(scene.reader.all_ended());
}

TEST_CASE("a long file begins anew and loses nothing that was just written") {
    Scene scene;
    std::vector<int64_t> steps;
    for (int64_t step = 1; step <= 60000; step++) {
        scene.writer.add(digest_at(step));
        if (step % 1000 != 0) continue;
        scene.writer.flush(scene.node.step());
        for (const int64_t read : scene.read_steps())
            if (steps.empty() || read > steps.back()) steps.push_back(read);
    }
    CHECK(steps.size() == 60000);
    CHECK(std::filesystem::file_size(scene.file()) <= (4U << 20U));
}

TEST_CASE("files that are not records are read and ignored") {
    Scene scene;
    std::filesystem::create_directories(scene.file().parent_path());
    inquest::test::write_file(scene.file(), std::string(3U << 20U, 'x'));
    for (int turn = 0; turn < 4; turn++)
        CHECK(scene.read_steps().empty());
    inquest::test::append_file(scene.file(), "\n" + format_record(digest_at(3)) + "\nend\nmore");
    CHECK(scene.read_steps() == std::vector<int64_t>{3});
    CHECK(scene.reader.all_ended());
    std::filesystem::create_symlink("/etc/passwd", scene.file().parent_path() / "n3");
    std::filesystem::create_directory(scene.file().parent_path() / "n4");
    CHECK(scene.read_steps().empty());
}

TEST_CASE("digests of other nodes stay when a node removes its own") {
    Scene scene;
    scene.writer.add(digest_at(1));
    scene.writer.flush(scene.node.step());
    inquest::test::write_file(scene.file().parent_path() / "n3", "");
    remove_own_digests(scene.node.step());
    CHECK_FALSE(std::filesystem::exists(scene.file()));
    CHECK(std::filesystem::exists(scene.file().parent_path() / "n3"));
    remove_own_digests(scene.node.step());
}

TEST_CASE("the file of a node's next run is read from its begin, also when it has the inode of the old one") {
    Scene scene;
    for (int run = 1; run <= 4; run++) {
        ExchangeWriter writer;
        writer.add(digest_at(run));
        if (run % 2 == 0) writer.add(digest_at(10 + run));
        writer.flush(scene.node.step());
        const auto steps = scene.read_steps();
        REQUIRE_FALSE(steps.empty());
        CHECK(steps.front() == run);
        CHECK_FALSE(scene.reader.all_ended());
        if (run % 2 == 0) writer.end(scene.node.step());
        if (run % 2 != 0) remove_own_digests(scene.node.step());
        CHECK(scene.read_steps().empty());
        CHECK(scene.reader.all_ended());
    }
}

TEST_CASE("digests are written also after more samples than fit") {
    Scene scene;
    for (int at = 0; at < 50000; at++)
        scene.writer.add({{1, 2, 3, 4}, SamplerPass{}});
    scene.writer.add(digest_at(1));
    scene.writer.flush(scene.node.step());
    scene.writer.add(digest_at(2));
    scene.writer.flush(scene.node.step());
    std::vector<int64_t> steps;
    for (int turn = 0; turn < 3; turn++)
        scene.reader.poll(
            scene.node.step(), scene.look, [] { return true; },
            [&](const ReplicaRecord& record) {
                if (const auto* digest = std::get_if<StateDigest>(&record.what))
                    steps.push_back(digest->step);
            });
    CHECK(steps == std::vector<int64_t>{2});
}

TEST_CASE("a turn that runs out of time goes on where it stopped, and no file is read twice") {
    Scene scene;
    const auto directory = scene.file().parent_path();
    std::filesystem::create_directories(directory);
    for (int at = 0; at < 10; at++)
        inquest::test::write_file(directory / ("m" + std::to_string(at)),
                                  format_record(digest_at(at)) + "\n");
    std::vector<int64_t> steps;
    const auto take = [&](const ReplicaRecord& record) {
        steps.push_back(std::get<StateDigest>(record.what).step);
    };
    for (int turn = 1; turn <= 10; turn++)
        CHECK(scene.reader.poll(
                  scene.node.step(), scene.look, [] { return false; }, take) == (turn == 10));
    CHECK(steps == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(scene.read_steps().empty());
    inquest::test::append_file(directory / "m3", format_record(digest_at(30)) + "\nend\n");
    CHECK(scene.read_steps() == std::vector<int64_t>{30});
    CHECK(scene.reader.ended_nodes() == 1);
    std::filesystem::remove_all(directory);
    CHECK(scene.reader.poll(
        scene.node.step(), scene.look, [] { return false; }, take));
    CHECK(scene.reader.all_ended());
}

TEST_CASE("a file is opened whatever its size when all are to be looked at") {
    Scene scene;
    scene.writer.add(digest_at(1));
    scene.writer.flush(scene.node.step());
    CHECK(scene.read_steps().size() == 1);
    scene.look = ExchangeReader::Look::all;
    CHECK(scene.read_steps().empty());
    scene.writer.add(digest_at(2));
    scene.writer.flush(scene.node.step());
    CHECK(scene.read_steps() == std::vector<int64_t>{2});
}

TEST_CASE("a directory that cannot be opened for a while says nothing of its nodes") {
    Scene scene;
    const auto directory = scene.file().parent_path();
    const auto elsewhere = scene.node.root() / "elsewhere";
    scene.writer.add(digest_at(1));
    scene.writer.flush(scene.node.step());
    CHECK(scene.read_steps().size() == 1);
    std::filesystem::rename(directory, elsewhere);
    inquest::test::write_file(directory, "no directory");
    CHECK(scene.read_steps().empty());
    CHECK_FALSE(scene.reader.all_ended());
    CHECK(scene.reader.ended_nodes() == 0);
    CHECK(scene.writer.exists(scene.node.step()));
    std::filesystem::remove(directory);
    std::filesystem::rename(elsewhere, directory);
    scene.writer.add(digest_at(2));
    scene.writer.end(scene.node.step());
    CHECK(scene.read_steps() == std::vector<int64_t>{2});
    CHECK(scene.reader.all_ended());
}
