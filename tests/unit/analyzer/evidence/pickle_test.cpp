#include "analyzer/evidence/pickle.h"

#include "tests/unit/analyzer/evidence/pickle_builder.h"
#include "tests/unit/catch.h"

using namespace inquest::evidence;
using inquest::testing::PickleBuilder;
using namespace std::string_literals;

namespace {

// A document and the bytes that it points into.
struct Read {
    std::string bytes;
    Document document;
    Values items() const { return document.tree.items(document.root); }
};

Read read(std::string bytes, const Limits& limits = {}) {
    Read result{std::move(bytes), {}};
    result.document = read_pickle(result.bytes, limits);
    return result;
}

}  // namespace

TEST_CASE("scalars of every width") {
    PickleBuilder b;
    b.begin_list().none().boolean(true).integer(7).integer(300).integer(-5).integer(INT64_MIN);
    b.raw("G\x3F\xF8\0\0\0\0\0\0"s).text("déjà").raw("C\x02hi").raw("\x8B\x01\0\0\0\xFF"s).end_list();
    const Read result = read(b.stop());
    CHECK(result.document.damage.empty());
    const Values items = result.items();
    REQUIRE(items.count == 10);
    CHECK(items[0].kind() == ValueKind::kNone);
    CHECK(items[1].as_boolean() == true);
    CHECK(items[2].as_integer() == 7);
    CHECK(items[3].as_integer() == 300);
    CHECK(items[4].as_integer() == -5);
    CHECK(items[5].as_integer() == INT64_MIN);
    CHECK(items[6].as_real() == 1.5);
    CHECK(items[7].as_text() == "déjà");
    CHECK(items[8].kind() == ValueKind::kBytes);
    CHECK(items[9].as_integer() == -1);
}

TEST_CASE("integers beyond 64 bits keep their sign only") {
    const Read result = read("\x80\x02](\x8A\x09\0\0\0\0\0\0\0\0\x7F\x8A\x09\0\0\0\0\0\0\0\0\xFF"s + "e.");
    CHECK(result.items()[0].as_integer() == INT64_MAX);
    CHECK(result.items()[1].as_integer() == INT64_MIN);
}

TEST_CASE("what Python's pickle.dump of protocol 4 writes") {
    // pickle.dumps({'a': [1, (2, 3)], 'b': None}, 4)
    const Read result = read("\x80\x04\x95\x19\0\0\0\0\0\0\0}\x94(\x8C\x01"s +
                             "a\x94]\x94(K\x01K\x02K\x03\x86\x94" + "e\x8C\x01" + "b\x94Nu.");
    CHECK(result.document.damage.empty());
    const Value* list = result.document.tree.find(result.document.root, "a");
    REQUIRE(list != nullptr);
    const Values items = result.document.tree.items(*list);
    CHECK(items[0].as_integer() == 1);
    CHECK(items[1].kind() == ValueKind::kTuple);
    CHECK(result.document.tree.items(items[1])[1].as_integer() == 3);
}

TEST_CASE("anything that would run code is refused by name") {
    CHECK(read("\x80\x02"s + "cos\nsystem\n(X\x02\0\0\0idtR."s).document.damage.find("refused GLOBAL") !=
          std::string::npos);
    CHECK(read("\x80\x04\x8C\x02os\x8C\x06system\x93.").document.damage.find("refused STACK_GLOBAL") !=
          std::string::npos);
    for (const char opcode : "Rbio\x81\x82\x83\x84\x8F\x90\x91\x92\x93\x96\x97\x98PQ"s) {
        const Read result = read("\x80\x04]N"s + opcode + ".");
        CHECK(result.document.damage.find("refused") != std::string::npos);
    }
}

TEST_CASE("a pickle cut anywhere keeps what was complete") {
    PickleBuilder b;
    b.begin_dict().text("version").text("2.10").text("entries").begin_list();
    for (int i = 0; i < 5; ++i)
        b.begin_dict().text("record_id").integer(i).end_dict();
    const std::string whole = b.end_list().end_dict().stop();
    for (size_t cut = 2; cut < whole.size(); ++cut) {
        CHECK_FALSE(read(whole.substr(0, cut)).document.damage.empty());
    }
    const Read result = read(whole.substr(0, whole.size() - 5));
    const Value* entries = result.document.tree.find(result.document.root, "entries");
    REQUIRE(entries != nullptr);
    CHECK(result.document.tree.items(*entries).count == 5);
}

TEST_CASE("shared containers cost nothing") {
    // a = ['lol'] * 10; b = [a] * 10; ... : 10^30 leaves in a few hundred bytes
    PickleBuilder b;
    b.raw("]").put(0).raw("(");
    for (int i = 0; i < 10; ++i)
        b.raw("K\x01");
    b.raw("e");
    for (uint8_t level = 1; level < 30; ++level) {
        b.raw("]").put(level).raw("(");
        for (int i = 0; i < 10; ++i)
            b.raw("h").little(level - 1U, 1);
        b.raw("e");
    }
    const Read result = read(b.stop());
    CHECK(result.document.tree.size() < 1000);
}

TEST_CASE("a list may contain itself") {
    PickleBuilder b;
    b.raw("]").put(0).raw("h").little(0, 1).raw("a");
    const Read result = read(b.stop());
    CHECK(result.document.damage.empty());
    CHECK(result.items()[0].container_number() == result.document.root.container_number());
}

TEST_CASE("malformed pickles stop the reader") {
    for (const std::string& body :
         {"."s, "0."s, "a."s, "e."s, "u."s, "2."s, "t."s, "\x86."s, "](Ku."s, "}(NNNu."s, "Na."s, "h\x05."s,
          "r\xFF\xFF\xFF\x7F."s, "Nr\xFF\xFF\xFF\x7F."s, "X\xFF\xFF\xFF\xFF."s,
          "\x8E\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF."s, "NN."s, "\x01"s, std::string(2000, '(')}) {
        CHECK_FALSE(read("\x80\x02" + body).document.damage.empty());
    }
    CHECK_FALSE(read("\x80\x09N.").document.damage.empty());
}

TEST_CASE("the number of values is bounded") {
    Limits limits;
    limits.tree_values = 100;
    CHECK_FALSE(read("\x80\x02](" + std::string(200, 'N') + "e.", limits).document.damage.empty());
}

TEST_CASE("a list that grows in many batches stays in order") {
    PickleBuilder b;
    b.raw("]");
    for (int batch = 0; batch < 50; ++batch) {
        b.raw("(");
        for (int i = 0; i < 7; ++i)
            b.raw("]K").little(static_cast<uint64_t>(batch), 1).raw("a");
        b.raw("e");
    }
    const Read result = read(b.stop());
    REQUIRE(result.items().count == 350);
    for (size_t i = 0; i < 350; ++i) {
        CHECK(result.document.tree.items(result.items()[i])[0].as_integer() == static_cast<int64_t>(i / 7));
    }
}
