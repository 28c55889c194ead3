#include "epilog/record_line.h"

#include <cstring>
#include <random>

#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

template <std::size_t N>
void put(char (&target)[N], const std::string& text) {
    std::memset(target, 0, N);
    std::memcpy(target, text.data(), std::min(text.size(), N));
}

void name_nodes(DiagnosisFields& fields, const std::vector<std::string>& names) {
    fields.nodes = {};
    for (const std::string& name : names) {
        if (fields.nodes.total < kMaxNamedNodes) put(fields.nodes.name[fields.nodes.total], name);
        fields.nodes.total++;
    }
}

DiagnosisFields deadlock() {
    DiagnosisFields fields{};
    put(fields.cause, "collective-on-some-ranks");
    put(fields.family, "all-reduce-deadlock");
    fields.confidence = static_cast<std::uint32_t>(Confidence::kCertain);
    fields.initiating = compress_ranks({2});
    fields.collateral = compress_ranks({0, 1, 3, 4, 5});
    name_nodes(fields, {"n3"});
    put(fields.file, "/home/ada/run/train.py");
    fields.line = 84;
    return fields;
}

RecordContext context() {
    return {{"n1", "n2", "n3", "n4"},
            "/home/ada/run/inquest-4711",
            [](std::string_view, std::string_view cause) { return cause != "made-up-cause"; }};
}

std::string line_of(const DiagnosisFields& fields) {
    return render_record_line(fields, context()).value_or("(nothing)");
}

bool is_clean(const std::string& line) {
    return line.size() <= kMaxRecordLineBytes && line.starts_with("inquest 1: ") &&
           std::all_of(line.begin(), line.end(),
                       [](char c) { return c >= ' ' && c <= '~' && std::strchr("'\"|\\", c) == nullptr; });
}

TEST_CASE("a deadlock's line names cause, rank, node, place, waiting ranks and report") {
    CHECK(line_of(deadlock()) ==
          "inquest 1: all-reduce-deadlock/collective-on-some-ranks (certain); first rank 2 (n3) train.py:84; "
          "waiting ranks 0,1,3-5; fix: inquest explain collective-on-some-ranks; "
          "verify: rerun with --inquest; report /home/ada/run/inquest-4711");
}

TEST_CASE("an unknown cause has no family, no fix and no verification") {
    DiagnosisFields fields{};
    put(fields.cause, "unknown");
    CHECK(line_of(fields) == "inquest 1: unknown (unknown); report /home/ada/run/inquest-4711");
}

TEST_CASE("several first ranks are one list, with their nodes and the place of the lowest") {
    DiagnosisFields fields = deadlock();
    fields.initiating = compress_ranks({7, 2, 6});
    CHECK(line_of(fields).find("; first ranks 2,6,7 (n3) train.py:84;") != std::string::npos);
    name_nodes(fields, {"n3", "n1"});
    CHECK(line_of(fields).find("; first ranks 2,6,7 (n3,n1) train.py:84;") != std::string::npos);
}

TEST_CASE("nodes that do not fit, or are none of the job, are counted") {
    DiagnosisFields fields = deadlock();
    name_nodes(fields, {"n3", "n9", "n1"});
    CHECK(line_of(fields).find("first rank 2 (n3,n1,... (3 in all)) train") != std::string::npos);
    std::vector<std::string> names;
    RecordContext other = context();
    for (int node = 0; node < 40; node++)
        names.push_back("node" + std::to_string(1000 + node));
    name_nodes(fields, names);
    other.nodes = names;
    const std::string line = render_record_line(fields, other).value();
    CHECK(line.find("first rank 2 (node1000,node1001,node1002,node1003,node1004,node1005,node1006,"
                    "... (40 in all)) train") != std::string::npos);
}

DiagnosisFields drifting() {
    DiagnosisFields fields{};
    put(fields.cause, "unknown");
    put(fields.family, "weight-divergence");
    fields.is_silent = 1;
    fields.initiating = compress_ranks({3});
    name_nodes(fields, {"n4"});
    fields.differing_part = static_cast<std::uint32_t>(DifferingPart::kParameters);
    fields.first_bad_step = 8;
    fields.last_good_step = 4;
    return fields;
}

TEST_CASE("replicas that differ for no known reason: which, what and since when") {
    DiagnosisFields fields = drifting();
    CHECK(line_of(fields) ==
          "inquest 1: weight-divergence/unknown (unknown); first rank 3 (n4); "
          "difference in parameters since step 8, none at step 4; report /home/ada/run/inquest-4711");
    fields.last_good_step = -1;
    CHECK(line_of(fields).find("; difference in parameters since step 8; report") != std::string::npos);
    fields.first_bad_step = 0;
    CHECK(line_of(fields).find("; difference in parameters before step 1; report") != std::string::npos);
    fields.first_bad_step = -1;
    fields.differing_part = static_cast<std::uint32_t>(DifferingPart::kSamples);
    CHECK(line_of(fields).find("; difference in samples; report") != std::string::npos);
    fields.differing_part = 77;
    CHECK(line_of(fields).find("difference") == std::string::npos);
}

TEST_CASE("a family that the knowledge does not have is not named") {
    RecordContext other = context();
    other.is_known = [](std::string_view, std::string_view) { return false; };
    CHECK(render_record_line(drifting(), other).value().starts_with("inquest 1: unknown (unknown);"));
    DiagnosisFields fields = drifting();
    put(fields.family, "../x");
    CHECK(line_of(fields).starts_with("inquest 1: unknown (unknown);"));
}

TEST_CASE("what failed has waiting ranks, what only went wrong has a difference") {
    DiagnosisFields fields = drifting();
    fields.collateral = compress_ranks({0, 1});
    CHECK(line_of(fields).find("waiting") == std::string::npos);
    fields.is_silent = 0;
    CHECK(line_of(fields).find("; waiting ranks 0,1; report") != std::string::npos);
    CHECK(line_of(fields).find("difference") == std::string::npos);
}

TEST_CASE("nothing is written about a healthy step or a cause that the knowledge does not have") {
    DiagnosisFields fields = deadlock();
    put(fields.cause, "healthy");
    CHECK(line_of(fields) == "(nothing)");
    put(fields.cause, "made-up-cause");
    CHECK(line_of(fields) == "(nothing)");
    for (const char* cause :
         {"", "Upper", "a b", "../../etc/passwd", "a--b", "-a", "a-", "1a", "a;b", "a\n"}) {
        put(fields.cause, cause);
        INFO(cause);
        CHECK(line_of(fields) == "(nothing)");
    }
}

TEST_CASE("a node outside the job, a strange file name and a strange path are left out") {
    DiagnosisFields fields = deadlock();
    name_nodes(fields, {"n9"});
    CHECK(line_of(fields).find("first rank 2 train.py:84;") != std::string::npos);
    put(fields.file, "/home/ada/tr ain.py");
    CHECK(line_of(fields).find("first rank 2;") != std::string::npos);
    put(fields.file, "/home/ada/");
    CHECK(line_of(fields).find("first rank 2;") != std::string::npos);
    for (const char* path : {"relative", "/home/a b/x", "/home/a|b", "/home/a'b", "/home/\xc3\xa4", ""}) {
        RecordContext other = context();
        other.report_directory = path;
        INFO(path);
        CHECK(render_record_line(fields, other).value().find("report") == std::string::npos);
    }
}

TEST_CASE("ranks that do not fit are counted") {
    DiagnosisFields fields = deadlock();
    std::vector<std::int32_t> even;
    for (std::int32_t rank = 10'000; rank < 26'384; rank += 2)
        even.push_back(rank);
    fields.collateral = compress_ranks(even);
    CHECK(line_of(fields).find(",... (8192 in all); fix") != std::string::npos);
    CHECK(is_clean(line_of(fields)));
}

TEST_CASE("ill-formed rank sets are left out") {
    DiagnosisFields fields = deadlock();
    fields.initiating.range[0] = {5, 2};
    fields.collateral.range_count = 4'000'000'000;
    CHECK(line_of(fields).find("first rank") == std::string::npos);
    CHECK(line_of(fields).find("waiting") == std::string::npos);
}

TEST_CASE("the longest possible line fits") {
    DiagnosisFields fields = deadlock();
    put(fields.cause, std::string(48, 'c'));
    put(fields.family, std::string(48, 'f'));
    name_nodes(fields, {std::string(63, 'n'), "n2", "n3"});
    put(fields.file, std::string(80, 'p'));
    fields.line = 4'294'967'295U;
    std::vector<std::int32_t> ranks;
    for (std::int32_t i = 0; i < 1000; i++)
        ranks.push_back(2'000'000'000 + 2 * i);
    fields.initiating = compress_ranks(ranks);
    fields.collateral = fields.initiating;
    fields.initiating.total = fields.collateral.total = fields.nodes.total = 4'294'967'295U;
    RecordContext other = context();
    other.nodes = {std::string(63, 'n')};
    other.report_directory = "/" + std::string(299, 'r');
    std::string line = render_record_line(fields, other).value();
    CHECK(is_clean(line));
    CHECK(line.size() > 900);
    fields.is_silent = fields.differing_part = 1;
    fields.first_bad_step = fields.last_good_step = INT64_MAX;
    line = render_record_line(fields, other).value();
    CHECK(is_clean(line));
    CHECK(line.find("; difference in parameters; fix") != std::string::npos);
}

/* Random bytes with valid ids now and then, so that not everything is refused at the first check. */
DiagnosisFields random_fields(std::mt19937& random) {
    DiagnosisFields fields{};
    auto* bytes = reinterpret_cast<unsigned char*>(&fields);
    for (std::size_t i = 0; i < sizeof fields; i++)
        bytes[i] = static_cast<unsigned char>(random());
    if (random() % 8 != 0) put(fields.cause, "rank-exception");
    if (random() % 8 != 0) put(fields.family, "rank-died");
    if (random() % 2 != 0) name_nodes(fields, {"n2"});
    if (random() % 2 != 0) fields.initiating.range_count = random() % (2 * kMaxRankRanges);
    if (random() % 2 != 0) fields.collateral = compress_ranks({static_cast<std::int32_t>(random()), 3, 4});
    for (char& c : fields.file) {
        if (random() % 16 != 0) c = static_cast<char>('a' + random() % 26);
    }
    return fields;
}

TEST_CASE("whatever bytes come through the pipe, the line is clean") {
    std::mt19937 random(20261130);
    int lines = 0;
    for (int i = 0; i < 20'000; i++) {
        const auto line = render_record_line(random_fields(random), context());
        if (!line) continue;
        lines++;
        REQUIRE(is_clean(*line));
    }
    CHECK(lines > 10'000);
}

}  // namespace
}  // namespace inquest::epilog
