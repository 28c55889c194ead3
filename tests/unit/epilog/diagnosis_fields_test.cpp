#include "epilog/diagnosis_fields.h"

#include <nlohmann/json.hpp>
#include <random>

#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

nlohmann::json party(int rank, const std::string& node, const std::string& place) {
    return {{"rank", rank}, {"node", node}, {"place", place}, {"why", "it left first"}};
}

nlohmann::json diagnosis() {
    return {{"schema", "inquest-diagnosis-1"},
            {"step", "0"},
            {"cause", "rank-exception"},
            {"family", "rank-died"},
            {"confidence", "likely"},
            {"initiating", {party(5, "n2", "train.py:9"), party(3, "n1", "/a/b:c/loop.py:17")}},
            {"collateral", {party(0, "n1", ""), party(1, "n1", ""), {{"rank", nullptr}}, 7}}};
}

bool read(const nlohmann::json& json, DiagnosisFields& fields) {
    return read_diagnosis_fields(json.dump(), "0", fields);
}

TEST_CASE("fields of a diagnosis: the lowest initiating rank gives the place and the first node") {
    DiagnosisFields fields{};
    REQUIRE(read(diagnosis(), fields));
    CHECK(bounded_text(fields.cause) == "rank-exception");
    CHECK(bounded_text(fields.family) == "rank-died");
    CHECK(fields.confidence == static_cast<std::uint32_t>(Confidence::kLikely));
    CHECK(fields.nodes.total == 2);
    CHECK(bounded_text(fields.nodes.name[0]) == "n1");
    CHECK(bounded_text(fields.nodes.name[1]) == "n2");
    CHECK(fields.is_silent == 0);
    CHECK(fields.differing_part == static_cast<std::uint32_t>(DifferingPart::kNone));
    CHECK(bounded_text(fields.file) == "/a/b:c/loop.py");
    CHECK(fields.line == 17);
    CHECK(fields.initiating.total == 2);
    CHECK(fields.initiating.range_count == 2);
    CHECK(fields.collateral.total == 2);
    CHECK(fields.collateral.range[0].last == 1);
}

TEST_CASE("what differs since when is read, and unknown where it is not told") {
    nlohmann::json json = diagnosis();
    json["end"] = "silent";
    json["divergence"] = {{"part", "buffers"}, {"first_bad_step", 8}, {"last_good_step", nullptr}};
    DiagnosisFields fields{};
    REQUIRE(read(json, fields));
    CHECK(fields.is_silent == 1);
    CHECK(fields.differing_part == static_cast<std::uint32_t>(DifferingPart::kBuffers));
    CHECK(fields.first_bad_step == 8);
    CHECK(fields.last_good_step == -1);
    for (const nlohmann::json& other : {nlohmann::json("parameters"), nlohmann::json(nullptr),
                                        nlohmann::json{{"part", "all"}, {"first_bad_step", "8"}}}) {
        json["divergence"] = other;
        REQUIRE(read(json, fields));
        CHECK(fields.differing_part == static_cast<std::uint32_t>(DifferingPart::kNone));
        CHECK(fields.first_bad_step == -1);
    }
}

TEST_CASE("nodes of many initiating ranks are counted once each") {
    nlohmann::json json = diagnosis();
    json["initiating"] = nlohmann::json::array();
    for (int rank = 99; rank >= 0; rank--)
        json["initiating"].push_back(party(rank, "n" + std::to_string(rank / 4), ""));
    DiagnosisFields fields{};
    REQUIRE(read(json, fields));
    CHECK(fields.nodes.total == 25);
    CHECK(bounded_text(fields.nodes.name[0]) == "n0");
    CHECK(bounded_text(fields.nodes.name[kMaxNamedNodes - 1]) == "n15");
}

TEST_CASE("another schema, another step and no cause are refused") {
    DiagnosisFields fields{};
    nlohmann::json json = diagnosis();
    json["schema"] = "inquest-diagnosis-2";
    CHECK_FALSE(read(json, fields));
    json = diagnosis();
    json["step"] = "batch";
    CHECK_FALSE(read(json, fields));
    json = diagnosis();
    json["cause"] = nullptr;
    CHECK_FALSE(read(json, fields));
    for (const char* text : {"", "[]", "{", "null", "\xff", "{\"schema\": 1}"}) {
        INFO(text);
        CHECK_FALSE(read_diagnosis_fields(text, "0", fields));
    }
}

TEST_CASE("ill-typed optional fields stay empty") {
    nlohmann::json json = diagnosis();
    json["family"] = nullptr;
    json["confidence"] = 3;
    json["initiating"] = {{{"rank", -1}}, {{"rank", 1.5}}, {{"rank", 1e30}}, {{"rank", "2"}}, nullptr};
    json["collateral"] = "all";
    DiagnosisFields fields{};
    REQUIRE(read(json, fields));
    CHECK(bounded_text(fields.family).empty());
    CHECK(fields.confidence == static_cast<std::uint32_t>(Confidence::kUnknown));
    CHECK(fields.initiating.total == 0);
    CHECK(fields.collateral.total == 0);
}

TEST_CASE("a text that does not fit is empty, not cut") {
    nlohmann::json json = diagnosis();
    json["cause"] = std::string(64, 'a');
    DiagnosisFields fields{};
    CHECK_FALSE(read(json, fields));
}

TEST_CASE("places without a line number are no places") {
    for (const char* place : {"train.py", "train.py:", "train.py:x", "train.py:0", "train.py:99999999999"}) {
        nlohmann::json json = diagnosis();
        json["initiating"] = {party(1, "n1", place)};
        DiagnosisFields fields{};
        INFO(place);
        REQUIRE(read(json, fields));
        CHECK(fields.line == 0);
        CHECK(bounded_text(fields.file).empty());
    }
}

TEST_CASE("ranks are sorted, joined and counted") {
    const RankSet set = compress_ranks({4, 3, 9, -1, 3, 2147483647});
    CHECK(set.total == 4);
    REQUIRE(set.range_count == 3);
    CHECK(set.range[0].first == 3);
    CHECK(set.range[0].last == 4);
    CHECK(set.range[2].first == 2147483647);
}

TEST_CASE("damaged diagnoses are read or refused, never more") {
    const std::string text = diagnosis().dump();
    std::mt19937 random(20261130);
    for (int i = 0; i < 20'000; i++) {
        std::string damaged = text.substr(0, random() % (text.size() + 1));
        for (int changes = random() % 4; changes > 0 && !damaged.empty(); changes--) {
            damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        DiagnosisFields fields{};
        if (!read_diagnosis_fields(damaged, "0", fields)) continue;
        REQUIRE(fields.initiating.range_count <= kMaxRankRanges);
        REQUIRE(fields.confidence <= static_cast<std::uint32_t>(Confidence::kCertain));
    }
}

}  // namespace
}  // namespace inquest::epilog
