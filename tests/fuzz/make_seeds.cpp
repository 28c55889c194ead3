// Writes the seed inputs of every fuzz target: make_seeds DIRECTORY.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/analyzer/evidence/box_builder.h"
#include "tests/unit/analyzer/evidence/flight_builder.h"
#include "tests/unit/analyzer/evidence/table_builder.h"

namespace {

using inquest::testing::BoxBuilder;
using inquest::testing::flight_pickle;
using inquest::testing::PickleBuilder;
using inquest::testing::TableBuilder;

std::filesystem::path top;

void write(const std::string& name, const std::string& bytes) {
    const std::filesystem::path file = top / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Small rings keep the inputs small enough to fuzz.
std::string small_box() {
    BoxBuilder b;
    b.header.strings.capacity = 1024;
    b.header.ring[INQUEST_RING_EVENTS] = {INQUEST_BOX_STRINGS_OFFSET + 1024, 8, INQUEST_BOX_RECORD_BYTES};
    b.header.ring[INQUEST_RING_COLLECTIVES] = {INQUEST_BOX_STRINGS_OFFSET + 2048, 8,
                                               INQUEST_BOX_RECORD_BYTES};
    b.header.ring[INQUEST_RING_DIGESTS] = {INQUEST_BOX_STRINGS_OFFSET + 3072, 16, INQUEST_BOX_RECORD_BYTES};
    b.header.total_bytes = INQUEST_BOX_STRINGS_OFFSET + 5120;
    for (int kind = INQUEST_KIND_DIGEST; kind <= INQUEST_KIND_MODE; ++kind) {
        b.record(INQUEST_RING_DIGESTS, static_cast<inquest_record_kind>(kind), static_cast<uint64_t>(kind), 1,
                 {{INQUEST_TEXT_DIGEST_RANKS, "0-3"}},
                 {{INQUEST_NUMBER_CHECKPOINT_SITE, INQUEST_SITE_STEP}, {INQUEST_NUMBER_DIGEST_PART, 1}});
    }
    for (int kind = INQUEST_KIND_STATE; kind <= INQUEST_KIND_PHASE_END; ++kind) {
        b.record(INQUEST_RING_EVENTS, static_cast<inquest_record_kind>(kind), static_cast<uint64_t>(kind), 1,
                 {{INQUEST_TEXT_FILE, "train.py"}}, {{INQUEST_NUMBER_LINE, 84}});
    }
    b.collective("all_reduce", 1, 100, 200);
    b.collective("barrier", 2, 300, 0);
    return b.bytes().substr(0, b.header.total_bytes);
}

void write_boxes() {
    const std::string box = small_box();
    write("black_box/small", box);
    write("black_box/truncated", box.substr(0, box.size() - 700));
    write("black_box/header", box.substr(0, 448));
    write("black_box/empty", "");
    write("black_box/whole", BoxBuilder().bytes());
}

void write_replicas() {
    const std::string digests =
        "d 1 1000 0 2 1 4 4 1 8 1 2a 2b 0-1\nd 1 1000 1 2 1 4 4 1 8 1 2a 2c 0-1\n"
        "d 1 1000 0 2 1 4 4 3 8 0 1 1 0-1\nd 1 2000 0 2 1 0 1 2 8 0 1 1 0,1\n";
    write("exchange_text/digests", digests + "end\n");
    write("exchange_text/samples",
          "p 1 1000 0 2 1 0 2 0 500 1000\np 1 1000 1 2 1 0 2 1 500 1000\n"
          "s 1 1000 0 2 1 8 0 1 2 3 4 5\ns 1 1000 1 2 1 8 0 1 2 3 4 5\n");
    write("exchange_text/cut", digests.substr(0, 50));
    BoxBuilder b;
    b.header.strings.capacity = 1024;
    b.header.ring[INQUEST_RING_EVENTS] = {INQUEST_BOX_STRINGS_OFFSET + 1024, 8, INQUEST_BOX_RECORD_BYTES};
    b.header.ring[INQUEST_RING_DIGESTS] = {INQUEST_BOX_STRINGS_OFFSET + 2048, 8, INQUEST_BOX_RECORD_BYTES};
    b.live.rank = 0;
    b.live.world_size = 4;
    b.record(INQUEST_RING_EVENTS, INQUEST_KIND_ENVIRONMENT, 0, 1,
             {{INQUEST_TEXT_KEY, "MASTER_PORT"}, {INQUEST_TEXT_VALUE, "1"}}, {});
    b.record(INQUEST_RING_EVENTS, INQUEST_KIND_MODEL_FLAGS, 0, 1, {},
             {{INQUEST_NUMBER_BROADCAST_BUFFERS, 0}});
    b.record(INQUEST_RING_EVENTS, INQUEST_KIND_SAMPLER, 1, 1, {}, {{INQUEST_NUMBER_SAMPLER_REPLICAS, 4}});
    b.record(INQUEST_RING_DIGESTS, INQUEST_KIND_SAMPLES, 1, 1, {}, {{INQUEST_NUMBER_SAMPLES_READ, 8}});
    for (int part = INQUEST_PART_PARAMETERS; part <= INQUEST_PART_GRADIENTS; ++part) {
        b.record(INQUEST_RING_DIGESTS, INQUEST_KIND_DIGEST, 1, 1, {{INQUEST_TEXT_DIGEST_RANKS, "0-3"}},
                 {{INQUEST_NUMBER_CHECKPOINT_STEP, 4},
                  {INQUEST_NUMBER_CHECKPOINT_SITE, INQUEST_SITE_STEP},
                  {INQUEST_NUMBER_DIGEST_PART, part},
                  {INQUEST_NUMBER_DIGEST_TENSORS, 3}});
    }
    const std::string box = b.bytes().substr(0, INQUEST_BOX_STRINGS_OFFSET + 4096);
    write("replica_box/small", box);
    write("replica_box/truncated", box.substr(0, box.size() - 1500));
}

void write_tables() {
    TableBuilder table;
    table.name("1 1 0 float32 64x32 - layers.0.weight\n1 2 0 float32 64 n layers.1.running_mean\n");
    const std::string bytes = table.entry(7, 1.5).entry(8, 2).bytes();
    write("tensor_table/two", bytes);
    write("tensor_table/truncated", bytes.substr(0, bytes.size() - 100));
    write("tensor_table/empty", "");
}

void write_pickles() {
    write("pickle/two", flight_pickle({{}, {"nccl:broadcast", 2, "scheduled", {1}, 0}}));
    write("pickle/cut", flight_pickle({{}}).substr(0, 200));
    write("pickle/refused", PickleBuilder().raw("cos\nsystem\n").stop());
    write("pickle/protocol4", std::string("\x80\x04\x95\x09\0\0\0\0\0\0\0}\x94\x8C\x01"
                                          "a\x94K\x01s.",
                                          21));
}

void write_json() {
    write("flight_json/one",
          R"({"entries":[{"collective_seq_id":3,"frames":[{"name":"f","filename":"a.py","line":3}],
"input_dtypes":["Float"],"input_sizes":[[4,2]],"is_p2p":false,"pg_id":0,"process_group":["0","default_pg"],
"profiling_name":"gloo:all_reduce","retired":true,"state":"scheduled","timeout_ms":1800000}],
"pg_config":{"0":{"ranks":"[0, 1]"}},"pg_status":{"0":{"last_enqueued_collective":4}},"version":"2.10"})");
    write("flight_json/list", R"([{"profiling_name":"x","seq_id":1}])");
    write("node_json/stall",
          R"({"schema":"inquest-node-evidence-1","job":1,"step":"0","node":"n1","nodes":"n[1-2,04-05]",
"node_count":2,"reason":"stall","collected_mono_ns":5,"collected_wall_ns":9,"stalled_since_mono_ns":null,
"tasks":[{"task":0,"pid":8,"wait_status":9,"exited_mono_ns":7}],"processes":[{"pid":8,"start":4,"alive":true,
"gone_mono_ns":1}],"injected":["A"],"damage":["x"]})");
}

void write_texts() {
    write("python_stack/two", R"(Thread 0x00007f1b (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait

Current thread 0x00007f1c (most recent call first):
  File "train.py", line 84 in train_step
Fatal Python error: Aborted

Current thread 0x00007f1c (most recent call first):
  File ???, line ??? in f
...
)");
    write("log/prefixes", R"([rank3]:[E1026 04:01:29.510593654 ProcessGroupNCCL.cpp:683] [Rank 3] x
11: [rank11]:[E ProcessGroupNCCL.cpp:563] [PG ID 0 PG GUID 0(default_pg) Rank 3] y
[default0]:[rank12]: token=abcdef0123456789abcd password: x https://a:b@c/
[1,2]<stdout>:2024-08-23T22:22:50.870+02:00 a
2024-05-07 15:51:09,140 - root - INFO
Oct  6 04:01:29 n1 kernel: NVRM
)");
    write("log/bytes", std::string("a\r\nb 1%\rb 2%\r\x1B[31mred\x1B[0m\0\xFF\n", 27));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    top = argv[1];
    write_boxes();
    write_tables();
    write_replicas();
    write_pickles();
    write_json();
    write_texts();
    return 0;
}
