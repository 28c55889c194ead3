#include "analyzer/evidence/tensor_table_reader.h"

#include <cmath>

#include "tests/unit/analyzer/evidence/table_builder.h"
#include "tests/unit/catch.h"

using inquest::evidence::Notes;
using inquest::evidence::read_tensor_table;
using inquest::testing::TableBuilder;

namespace {

struct Read {
    std::optional<inquest::model::TensorTable> table;
    std::vector<inquest::model::Note> notes;
};

Read read(const std::string& bytes) {
    Notes notes;
    Read result;
    result.table = read_tensor_table("n1/tensors-815-4711.ibt", bytes, notes);
    result.notes = notes.take();
    return result;
}

TableBuilder two_tensors() {
    TableBuilder table;
    table.name("1 1 0 float32 64x32 - layers.0.weight\n1 1 1 float32 - n the second one\n");
    return table.entry(7, 1.5).entry(8, std::nan(""));
}

}  // namespace

TEST_CASE("names and entries of a table are read") {
    const Read result = read(two_tensors().bytes());
    REQUIRE(result.table);
    CHECK(result.notes.empty());
    const auto& names = result.table->names.at({1, INQUEST_PART_PARAMETERS});
    CHECK(names.at(0).name == "layers.0.weight");
    CHECK(names.at(0).shape == "64x32");
    CHECK_FALSE(names.at(0).running_statistic);
    CHECK(names.at(1).name == "the second one");
    CHECK(names.at(1).running_statistic);
    CHECK(result.table->entries.at(0).low == 7);
    CHECK(result.table->entries.at(0).norm == 1.5);
    CHECK(result.table->entries.at(0).lanes[3] == 7);
    CHECK(std::isnan(result.table->entries.at(1).norm));
}

TEST_CASE("the ring of a table keeps the newest entries") {
    TableBuilder table(4);
    for (uint64_t number = 0; number < 10; ++number)
        table.entry(number, 1);
    const Read result = read(table.bytes());
    REQUIRE(result.table);
    CHECK(result.notes.empty());
    CHECK(result.table->entries.size() == 4);
    CHECK(result.table->entries.begin()->first == 6);
    CHECK(result.table->entries.rbegin()->second.low == 9);
}

TEST_CASE("torn entries and cut names are counted, the rest is read") {
    TableBuilder table = two_tensors();
    table.slot(0)->mark = 0;
    table.entry(9, 1).slot(2)->mark = 5;
    table.name("1 1 2 float32 - - unfinis");
    const Read result = read(table.bytes());
    REQUIRE(result.table);
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes.front().text == "tensor table: 2 torn entries");
    CHECK(result.table->entries.size() == 1);
    CHECK(result.table->names.at({1, INQUEST_PART_PARAMETERS}).size() == 2);
}

TEST_CASE("what is no table is named") {
    TableBuilder table = two_tensors();
    CHECK_FALSE(read("").table);
    CHECK_FALSE(read(table.bytes().substr(0, 5000)).table);
    for (const auto damage : {0, 1, 2, 3, 4}) {
        TableBuilder hostile = two_tensors();
        if (damage == 0) hostile.header.magic[0] = 'X';
        if (damage == 1) hostile.header.version = 9;
        if (damage == 2) hostile.header.byte_order = 0x04030201;
        if (damage == 3) hostile.header.entries.capacity = UINT32_MAX;
        if (damage == 4) hostile.header.names.offset_bytes = UINT64_MAX;
        const Read result = read(hostile.bytes());
        INFO(damage);
        CHECK_FALSE(result.table);
        CHECK(result.notes.size() == 1);
    }
}

TEST_CASE("hostile numbers in a table are bounded") {
    TableBuilder table = two_tensors();
    table.header.entries.offset_bytes = UINT64_MAX - 8;
    table.live.names_used_bytes = UINT64_MAX;
    table.live.entries_head = UINT64_MAX;
    table.name("");
    const Read result = read(table.bytes());
    REQUIRE(result.table);
    CHECK(result.table->entries.empty());
    for (const char* line : {"x 1 0 f - - n\n", "1 9 0 f - - n\n", "1 1 -1 f - - n\n", "1 1 0 f -\n", "\n",
                             "1 1 99999999999 f - - n\n"}) {
        const Read odd = read(TableBuilder().name(line).bytes());
        REQUIRE(odd.table);
        CHECK(odd.table->names.empty());
        CHECK(odd.notes.size() == 1);
    }
}
