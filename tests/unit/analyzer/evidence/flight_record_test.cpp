#include "analyzer/evidence/flight_record.h"

#include "tests/unit/analyzer/evidence/flight_builder.h"
#include "tests/unit/catch.h"

using namespace inquest::evidence;
using inquest::testing::flight_pickle;
using inquest::testing::FlightCall;
using inquest::testing::PickleBuilder;

namespace {

constexpr const char* kJson = R"({"comm_lib_version":"2.27.5","entries":[{"collective_seq_id":3,
  "input_dtypes":["Float"],"input_sizes":[[4,2]],"is_p2p":false,"output_dtypes":["Float"],"output_sizes":[[8]],
  "p2p_seq_id":0,"pg_id":0,"process_group":["0","default_pg"],"profiling_name":"gloo:all_reduce","record_id":9,
  "retired":true,"state":"scheduled","time_created_ns":1700000000000000000,"time_discovered_started_ns":0,
  "timeout_ms":1800000,"future_key":{"a":[1]}}],"nccl_comm_state":{},"pg_config":{"":{"desc":"default_pg",
  "name":"","ranks":"[0, 1]"}},"pg_status":{"0":{"last_completed_collective":3,"last_enqueued_collective":4,
  "last_started_collective":-1}},"version":"2.10"})";

std::optional<inquest::model::FlightRecord> read(const std::string& source, std::string_view bytes,
                                                 Notes& notes, const Limits& limits = {}) {
    return read_flight_record(source, bytes, limits, notes);
}

}  // namespace

TEST_CASE("a dump as torch pickles it") {
    Notes notes;
    const auto record =
        read("nccl_trace_rank_3", flight_pickle({{}, {"nccl:broadcast", 2, "scheduled"}}), notes);
    REQUIRE(record);
    CHECK(notes.take().empty());
    CHECK(record->version == "2.10");
    CHECK(record->rank == 3);
    CHECK(record->group_ranks.at("0") == std::vector<int>{0, 1, 2, 3});
    CHECK(record->status.at("0").last_enqueued == 7);
    CHECK(record->status.at("0").last_started == -1);
    REQUIRE(record->entries.size() == 2);
    const auto& entry = record->entries[1];
    CHECK(entry.record_id == 1);
    CHECK(entry.group == "0");
    CHECK(entry.group_description == "default_pg");
    CHECK(entry.operation == "nccl:broadcast");
    CHECK(entry.collective_sequence == 2);
    CHECK(entry.state == "scheduled");
    CHECK_FALSE(entry.retired);
    CHECK(entry.input_sizes == std::vector<std::vector<int64_t>>{{1024, 16}});
    CHECK(entry.input_dtypes == std::vector<std::string>{"Float"});
    CHECK(entry.created_ns == 1'700'000'000'000'001'000);
    CHECK(entry.started_ns == 0);
    CHECK(entry.timeout_ns == 600'000'000'000);
    REQUIRE(entry.frames.size() == 2);
    CHECK(entry.frames[1].file == "train.py");
    CHECK(entry.frames[1].line == 85);
}

TEST_CASE("a dump as the worker server answers it") {
    Notes notes;
    CHECK(looks_like_flight_json(kJson));
    const auto record = read("flight-1-2.json", kJson, notes);
    REQUIRE(record);
    CHECK(notes.take().empty());
    CHECK_FALSE(record->rank);
    CHECK(record->group_ranks.at("") == std::vector<int>{0, 1});
    CHECK(record->status.at("0").last_completed == 3);
    REQUIRE(record->entries.size() == 1);
    CHECK(record->entries[0].group == "0");
    CHECK(record->entries[0].retired);
    CHECK(record->entries[0].output_sizes == std::vector<std::vector<int64_t>>{{8}});
}

TEST_CASE("JSON that was cut keeps the whole entries") {
    Notes notes;
    const std::string two = R"({"entries":[{"profiling_name":"a","record_id":1},{"profiling_name":"b","rec)";
    const auto record = read("flight-1-2.json", two, notes);
    REQUIRE(record);
    CHECK(record->entries.size() == 2);
    CHECK(record->entries[1].operation == "b");
    CHECK(notes.take().at(0).text.find("JSON") == 0);
}

TEST_CASE("old versions: one sequence number, a bare group name, no groups") {
    PickleBuilder b;
    b.begin_dict().text("version").text("1.1").text("entries").begin_list().begin_dict();
    b.text("seq_id").integer(12).text("process_group").text("tp").end_dict().end_list().end_dict();
    Notes notes;
    const auto record = read("trace_0", b.stop(), notes);
    REQUIRE(record);
    CHECK(record->entries.at(0).collective_sequence == 12);
    CHECK(record->entries.at(0).group == "tp");
    CHECK(record->entries.at(0).p2p_sequence == -1);
    CHECK(record->group_ranks.empty());
}

TEST_CASE("a dump whose writer was killed keeps its entries") {
    const std::string whole = flight_pickle({{}, {}, {}});
    Notes notes;
    const auto record = read("_dump_1", whole.substr(0, whole.size() - 40), notes);
    REQUIRE(record);
    CHECK(record->entries.size() == 3);
    CHECK(notes.take().at(0).text.find("truncated") != std::string::npos);
}

TEST_CASE("other pickles and JSON are no dumps") {
    Notes notes;
    CHECK_FALSE(read("a.pkl", PickleBuilder().begin_list().integer(1).end_list().stop(), notes));
    CHECK_FALSE(read("a.json", "[1, 2", notes));
    CHECK_FALSE(looks_like_flight_json(R"({"loss": 1.0})"));
    CHECK(notes.take().size() == 3);
}

TEST_CASE("values of a wrong kind are ignored, entries that are none are named") {
    Notes notes;
    const auto record = read("x_1",
                             R"({"pg_config":[1],"pg_status":{"0":7},"version":3,"entries":[1,{"pg_id":"a",
        "process_group":{},"input_sizes":[1,[2,"x"]],"frames":{"a":1},"timeout_ms":9223372036854775807}]})",
                             notes);
    REQUIRE(record);
    CHECK(record->entries.size() == 1);
    CHECK(record->entries[0].timeout_ns == INT64_MAX);
    CHECK(record->entries[0].input_sizes == std::vector<std::vector<int64_t>>{{}, {2, -1}});
    CHECK(notes.take().at(0).text.find("no dictionary") != std::string::npos);
}

TEST_CASE("one frame list that many entries share does not explode") {
    PickleBuilder b;
    b.begin_dict().text("entries").begin_list().begin_dict().text("frames").raw("]").put(30).raw("(");
    for (int i = 0; i < 1000; ++i)
        b.raw("}");
    b.raw("e").end_dict();
    for (int i = 0; i < 1000; ++i)
        b.begin_dict().text("frames").raw("h\x1E").end_dict();
    Limits limits;
    limits.flight_frames = 5000;
    Notes notes;
    const auto record = read("x_1", b.end_list().end_dict().stop(), notes, limits);
    REQUIRE(record);
    CHECK(record->entries.size() == 1001);
    CHECK(notes.take().at(0).text.find("frames left out") != std::string::npos);
}

TEST_CASE("ranks in file names") {
    CHECK(rank_from_file_name("/tmp/nccl_trace_rank_12") == 12);
    CHECK(rank_from_file_name("_dump_0") == 0);
    CHECK(rank_from_file_name("dumps7/fr_3.json") == 3);
    CHECK_FALSE(rank_from_file_name("dumps7/trace.pickle"));
    CHECK_FALSE(rank_from_file_name("n3/flight-1-2.json"));
    CHECK_FALSE(rank_from_file_name("x99999999999999999999"));
}
