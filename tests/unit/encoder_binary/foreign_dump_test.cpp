// Foreign dumps: the VM's own on its way through the encoder.
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <string>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/draft/foreign_dump.h>

#include "platform/memory.h"
#include "tests/unit/golden/encoder_run.h"

namespace hprof {
namespace {

std::string u4(uint32_t v) {
  uint8_t b[4];
  put_u4(b, v);
  return std::string(reinterpret_cast<char*>(b), 4);
}
// The VM is of this machine, and so are its identifiers.
constexpr uint32_t kId = sizeof(void*);
std::string id(uint64_t v) {
  uint8_t b[8];
  put_u8(b, v);
  return std::string(reinterpret_cast<char*>(b + 8 - kId), kId);
}
std::string record(char tag, const std::string& body) {
  return tag + u4(0) + u4(static_cast<uint32_t>(body.size())) + body;
}
std::string utf8(uint64_t name, const std::string& text) { return record(1, id(name) + text); }
std::string load_class(uint32_t serial, uint64_t object, uint64_t name) {
  return record(2, u4(serial) + id(object) + u4(0) + id(name));
}
const std::string kHeader = std::string("JAVA PROFILE 1.0.2\0", 19) + u4(kId) + u4(0) + u4(0);

// Object (0x1000, no fields), Leaf (0x1008: int, long fields; static int), Class (0x1010).
std::string class_dump(uint64_t object, uint64_t super, uint32_t size, const std::string& statics,
                       const std::string& fields) {
  return "\x20" + id(object) + u4(1) + id(super) + id(0) + id(0) + id(0) + id(0) + id(0) + u4(size) +
         std::string("\0\0", 2) + (statics.empty() ? std::string("\0\0", 2) : statics) +
         (fields.empty() ? std::string("\0\0", 2) : fields);
}
const std::string kClasses =
    class_dump(0x1000, 0, 0, "", "") +
    class_dump(0x1008, 0x1000, 12 + kId, std::string("\0\1", 2) + id(0x70) + "\x0a" + "STAT",
               std::string("\0\3", 2) + id(0x71) + "\x0a" + id(0x72) + "\x02" + id(0x73) + "\x0b") +
    class_dump(0x1010, 0x1000, 0, "", "");
const std::string kObjects = "\x21" + id(0x900000) + u4(1) + id(0x1008) + u4(12 + kId) + "INTS" + id(0x1018) +
                             "LONGLONG" + "\x23" + id(0x900020) + u4(1) + u4(6) + "\x08" +
                             "secret" +  // a byte[]
                             "\x22" + id(0x900040) + u4(1) + u4(2) + id(0x1000) + id(0x1018) + id(0x1020);
const std::string kStrings = utf8(0x60, "java/lang/Object") + utf8(0x61, "Leaf") +
                             utf8(0x62, "java/lang/Class") + utf8(0x63, "Unlinked") + utf8(0x70, "statik") +
                             utf8(0x71, "number") + utf8(0x72, "link") + utf8(0x73, "stamp") +
                             utf8(0x99, "literal-secret");
const std::string kLoads = load_class(1, 0x1000, 0x60) + load_class(2, 0x1008, 0x61) +
                           load_class(3, 0x1010, 0x62) + load_class(4, 0x1018, 0x63);

// The mock's own allocates what is reserved: most of it is never touched, and AddressSanitizer marks all of
// it.
const hprof_mem_service kMem = {
    sizeof(hprof_mem_service),
    0,
    [](const hprof_host*, uint64_t bytes) { return calloc(1, bytes); },
    [](const hprof_host*, void* memory, uint64_t) { free(memory); },
    [](const hprof_host*, uint64_t bytes) { return platform::reserve_lazy(static_cast<size_t>(bytes)); },
    [](const hprof_host*, void* memory, uint64_t bytes) {
      platform::release_lazy(memory, static_cast<size_t>(bytes));
    },
    [](const hprof_host*, uint64_t) { return uint32_t{1}; },
    [](const hprof_host*, uint64_t) {}};

struct Result {
  hprof_status status;
  std::string bytes;  // of the dump: without those before it
  uint64_t traced;
};

using Traces = std::map<uint64_t, hprof_trace_serial>;    // by address
using Threads = std::map<uint64_t, hprof_thread_serial>;  // the same

// What heap=dump leaves out with redact=none, basic and full.
constexpr uint32_t kRedact[] = {
    0, HPROF_FOREIGN_NO_TEXT,
    HPROF_FOREIGN_NO_FIELDS | HPROF_FOREIGN_NO_ARRAYS | HPROF_FOREIGN_NO_TEXT | HPROF_FOREIGN_NO_STRINGS};

class Run {
 public:
  explicit Run(bool patches = true)
      : run_(host_with_memory(), mock_unit(hprof_module_encoder_binary, "encoder_binary")) {
    if (patches) run_.out.let_patch();
    auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    begin.id_size = kId;
    begin.heap_dump = 1;
    REQUIRE(run_.encode(&begin.head) == HPROF_OK);
    // The empty trace, which the encoder writes ahead of the first record that may name it.
    auto trace = make_record<hprof_rec_definition>(HPROF_RECORD_TRACE);
    REQUIRE(run_.encode(&trace.head) == HPROF_OK);
  }

  hprof_class_serial define_class(const std::string& name) {
    const hprof_class_serial serial = host_.add_class(name, "L" + name + ";");
    define(HPROF_RECORD_CLASS, serial);
    return serial;
  }
  hprof_thread_serial define_thread(const std::string& name) {
    const hprof_thread_serial serial = host_.add_thread(name, "main", "system", 0x800001);
    define(HPROF_RECORD_THREAD_START, serial);
    return serial;
  }
  std::string bytes() { return run_.bytes(); }

  // Feeds both streams in pieces of `piece` bytes; late: what stream 0 has after stream 1.
  Result pass(const std::string& main, const std::string& objects, const std::string& late, uint32_t redact,
              size_t piece, const Traces& traces = {}, const Threads& threads = {}) {
    const size_t before = run_.bytes().size();
    hprof_foreign_dump dump = {};
    dump.size = sizeof dump;
    dump.flags = kRedact[redact] | (objects.empty() ? 0 : HPROF_FOREIGN_APART);
    const Known known = {traces, threads};
    dump.argument = const_cast<Known*>(&known);
    if (!traces.empty())
      dump.trace_of = [](void* of, uint64_t at) { return find(static_cast<Known*>(of)->traces, at); };
    if (!threads.empty())
      dump.thread_of = [](void* of, uint64_t at) { return find(static_cast<Known*>(of)->threads, at); };
    hprof_status status = write(dump, 0, HPROF_FOREIGN_BEGINS, "");
    const std::string parts[3] = {main, objects, late};
    for (uint32_t part = 0; part < 3; part++) {
      for (size_t at = 0; at < parts[part].size() && status == HPROF_OK; at += piece)
        status = write(dump, part == 1 ? 1 : 0, 0, parts[part].substr(at, piece));
    }
    if (status == HPROF_OK) status = write(dump, 0, HPROF_FOREIGN_ENDS, "");
    if (status == HPROF_OK) {
      CHECK(dump.failure == nullptr);
    } else {
      CHECK(dump.failure != nullptr);
      CHECK(write(dump, 0, HPROF_FOREIGN_BROKEN, "") == HPROF_FAILED);
    }
    return {status, run_.bytes().substr(before), dump.traced};
  }

 private:
  struct Known {
    const Traces& traces;
    const Threads& threads;
  };
  static uint32_t find(const std::map<uint64_t, uint32_t>& known, uint64_t address) {
    const auto at = known.find(address);
    return at != known.end() ? at->second : 0;
  }
  void define(uint32_t kind, uint32_t number) {
    auto record = make_record<hprof_rec_definition>(kind);
    record.id = number;
    REQUIRE(run_.encode(&record.head) == HPROF_OK);
  }
  hprof_status write(hprof_foreign_dump& dump, uint32_t stream, uint32_t flags, std::string bytes) {
    auto record = make_record<hprof_rec_foreign_dump>(HPROF_RECORD_FOREIGN_DUMP);
    record.dump = &dump;
    record.stream = stream;
    record.flags = flags;
    record.bytes = bytes.empty() ? nullptr : reinterpret_cast<uint8_t*>(&bytes[0]);
    record.size = bytes.size();
    return run_.encode(&record.head);
  }
  MockHost& host_with_memory() {
    host_.set_service(HPROF_SERVICE_MEM, &kMem);
    return host_;
  }

  MockHost host_;
  EncoderRun run_;
};

Result pass(const std::string& main, const std::string& objects, const std::string& late, uint32_t redact,
            size_t piece, const Traces& traces = {}) {
  return Run().pass(main, objects, late, redact, piece, traces);
}

// The tags of the file's records, in order; fails on a record that does not end in the file.
std::string tags(const std::string& bytes) {
  std::string found;
  size_t at = 0;
  while (at + 9 <= bytes.size()) {
    found += bytes[at] == 0x1c ? 'S' : bytes[at] == 0x2c ? 'E' : static_cast<char>('0' + bytes[at]);
    at += 9 + get_u4(reinterpret_cast<const uint8_t*>(bytes.data()) + at + 5);
  }
  CHECK(at == bytes.size());
  return found;
}

bool has(const std::string& bytes, const std::string& part) { return bytes.find(part) != std::string::npos; }

const std::string kWhole = kHeader + kStrings + kLoads + record(0x1c, kClasses + kObjects) + record(0x2c, "");

}  // namespace

TEST_CASE("a dump in one stream goes by unchanged, in pieces of any size, and gets what is missing") {
  for (size_t piece : {1u, 7u, 100u, 100000u}) {
    const Result result = pass(kWhole, "", "", 0, piece);
    REQUIRE(result.status == HPROF_OK);
    CHECK(tags(result.bytes) == "11111111152222SSE");
    CHECK(has(result.bytes, kClasses + kObjects));
    // Unlinked is loaded and has no CLASS DUMP; 0x1020 lies beside the class objects and is nowhere.
    CHECK(has(result.bytes, "\x20" + id(0x1018) + u4(1) + id(0x1000)));
    CHECK(has(result.bytes, "\x21" + id(0x1020) + u4(1) + id(0x1010)));
  }
}

TEST_CASE("objects in a stream of their own: what comes after them goes into the gap before them") {
  for (uint32_t redact : {0u, 2u}) {
    for (size_t piece : {1u, 64u, 100000u}) {
      const Result result = pass(kHeader + kStrings.substr(0, 50), record(0x1c, kClasses + kObjects),
                                 kStrings.substr(50) + kLoads + record(0x2c, ""), redact, piece);
      REQUIRE(result.status == HPROF_OK);
      const std::string order = tags(result.bytes);
      CHECK(order.find("2222") < order.find('S'));
      CHECK(order.back() == 'E');
      CHECK(has(result.bytes, "Unlinked"));
    }
  }
}

TEST_CASE("objects get the traces in which they were allocated, in pieces of any size") {
  // An instance, an array of bytes, and an object that is not in the dump; the array of objects is not
  // followed.
  const Traces traces = {{0x900000, 7}, {0x900020, 70000}, {0x900028, 8}};
  const std::string expected = "\x21" + id(0x900000) + u4(300007) + id(0x1008);
  for (size_t piece : {1u, 2u, 5u, 7u, 13u, 100u, 100000u}) {
    const Result result = pass(kWhole, "", "", 0, piece, traces);
    REQUIRE(result.status == HPROF_OK);
    CHECK(has(result.bytes, expected));
    CHECK(has(result.bytes, "\x23" + id(0x900020) + u4(370000) + u4(6) + "\x08" + "secret"));
    CHECK(has(result.bytes, "\x22" + id(0x900040) + u4(1) + u4(2)));
    CHECK(has(result.bytes, kClasses));
    CHECK(result.bytes.size() == pass(kWhole, "", "", 0, piece).bytes.size());
    CHECK(result.traced == 2);
  }
  const Result redacted = pass(kWhole, "", "", 2, 9, traces);
  CHECK(has(redacted.bytes, expected));
  const Result apart =
      pass(kHeader + kStrings, record(0x1c, kClasses + kObjects), kLoads + record(0x2c, ""), 0, 11, traces);
  REQUIRE(apart.status == HPROF_OK);
  CHECK(has(apart.bytes, expected));
}

TEST_CASE("names of classes are those of Java source; other strings stay") {
  const std::string strings = utf8(1, "[C") + utf8(2, "[[Lsome/Thing;") + utf8(3, "some/Thing$1") +
                              utf8(4, "(Lsome/Thing;[C)V") + utf8(5, "/some/path") +
                              utf8(6, "some/thing.txt") + utf8(7, "[") + utf8(8, "[X") + utf8(9, "[[[Z") +
                              utf8(10, "");
  for (size_t piece : {1u, 100000u}) {
    const std::string bytes = pass(kHeader + strings + kWhole.substr(kHeader.size()), "", "", 0, piece).bytes;
    for (const auto& text : {utf8(1, "char[]"), utf8(2, "some.Thing[][]"), utf8(3, "some.Thing$1"),
                             utf8(4, "(Lsome/Thing;[C)V"), utf8(5, "/some/path"), utf8(6, "some/thing.txt"),
                             utf8(7, "["), utf8(8, "[X"), utf8(9, "boolean[][][]"), utf8(10, "")})
      CHECK(has(bytes, text));
  }
}

TEST_CASE(
    "classes that are defined before the dump get its ids, where the output can be patched and one class has "
    "the name") {
  const std::string twice = load_class(5, 0x1020, 0x61);  // another Leaf
  for (const bool patches : {true, false}) {
    for (const bool several : {true, false}) {
      for (uint32_t redact : {0u, 2u}) {
        Run run(patches);
        const uint32_t leaf = run.define_class("Leaf");
        const uint32_t object = run.define_class("java.lang.Object");
        const uint32_t other = run.define_class("Other");
        const uint64_t own = kId == 8 ? 0x4c00000000000000 : 0x60000000;
        const std::string main = kHeader + kStrings + kLoads + (several ? twice : "") +
                                 record(0x1c, kClasses + kObjects) + record(0x2c, "");
        REQUIRE(run.pass(main, "", "", redact, 64).status == HPROF_OK);
        CHECK(has(run.bytes(), u4(leaf) + id(patches && !several ? 0x1008 : own + leaf)));
        CHECK(has(run.bytes(), u4(object) + id(patches ? 0x1000 : own + object)));
        CHECK(has(run.bytes(), u4(other) + id(own + other)));
      }
    }
  }
}

TEST_CASE("threads of the output have its serials in the dump, and the dump's ids in START THREAD") {
  const auto root = [](uint64_t object, uint32_t thread, uint32_t trace) {
    return "\x08" + id(object) + u4(thread) + u4(trace);
  };
  const auto roots = [&](uint32_t first, uint32_t second) {
    return root(0x900100, first, 2) + "\x03" + id(0x900000) + u4(first) + u4(0) + "\x02" + id(0x900000) +
           u4(first) + u4(1) + "\x06" + id(0x900000) + u4(first) + root(0x900200, second, 3) + "\x04" +
           id(0x900000) + u4(second);
  };
  const auto traces = [](uint32_t first, uint32_t second) {
    return record(5, u4(2) + u4(first) + u4(0)) + record(5, u4(3) + u4(second) + u4(0));
  };
  for (const bool apart : {false, true}) {
    for (size_t piece : {1u, 3u, 7u, 100u, 100000u}) {
      for (uint32_t redact : {0u, 2u}) {
        Run run;
        const uint32_t thread = run.define_thread("main");
        const std::string before = kHeader + kStrings + kLoads;
        const std::string objects = record(0x1c, kClasses + roots(11, 12) + kObjects);
        const std::string end = record(0x2c, "");
        const Result result =
            apart ? run.pass(before, objects, traces(11, 12) + end, redact, piece, {}, {{0x900100, thread}})
                  : run.pass(before + traces(11, 12) + objects + end, "", "", redact, piece, {},
                             {{0x900100, thread}});
        REQUIRE(result.status == HPROF_OK);
        CHECK(has(run.bytes(), u4(200000 + thread) + id(0x900100)));
        CHECK(has(run.bytes(), roots(200000 + thread, 12)));
        CHECK(has(run.bytes(), u4(2) + u4(200000 + thread) + u4(0)));
        CHECK(has(run.bytes(), u4(3) + u4(12) + u4(0)));
      }
    }
  }
}

TEST_CASE("redact=full: no value and no string that is not a name") {
  for (size_t piece : {1u, 33u, 100000u}) {
    const Result result = pass(kWhole, "", "", 2, piece);
    REQUIRE(result.status == HPROF_OK);
    tags(result.bytes);
    for (const char* gone : {"INTS", "LONGLONG", "STAT", "secret"}) CHECK(!has(result.bytes, gone));
    for (const char* name : {"Leaf", "number", "link", "stamp", "statik"}) CHECK(has(result.bytes, name));
    CHECK(
        has(result.bytes, std::string(4, '\0') + id(0x1018) + std::string(8, '\0')));  // the reference stays
  }
}

TEST_CASE("what becomes of a dump does not depend on the pieces it comes in") {
  for (uint32_t redact : {0u, 1u, 2u}) {
    const Result bytewise = pass(kWhole, "", "", redact, 1);
    for (size_t piece : {2u, 29u, 64u, 100000u}) {
      // Segments begin where pieces do while strings are held back.
      const Result result = pass(kWhole, "", "", redact, piece);
      CHECK(result.status == bytewise.status);
      if (redact != 2) CHECK(result.bytes == bytewise.bytes);
      if (redact == 2) CHECK(result.bytes.size() == bytewise.bytes.size());
    }
  }
}

TEST_CASE("redact=basic: text goes, numbers stay") {
  const Result result = pass(kWhole, "", "", 1, 100);
  REQUIRE(result.status == HPROF_OK);
  CHECK(!has(result.bytes, std::string("\x08") + "secret"));
  CHECK(has(result.bytes, "INTS"));
}

TEST_CASE("the trace that classes name stands before them, once") {
  const std::string empty = record(5, u4(1) + u4(0) + u4(0));
  const std::string main =
      kHeader + kStrings + kLoads + empty + record(0x1c, kClasses + kObjects) + record(0x2c, "");
  for (uint32_t redact : {0u, 2u}) {
    const std::string bytes = pass(main, "", "", redact, 100).bytes;
    const size_t at = bytes.find(empty);
    CHECK(at < bytes.find(id(0x1000) + u4(0) + id(0x60)));
    CHECK(bytes.find(empty, at + 1) == std::string::npos);
  }
}

TEST_CASE("a later dump in the same output has numbers of its own") {
  const std::string thread = "\x08" + id(0x900000) + u4(5) + u4(2);
  const std::string main = kHeader + kStrings + kLoads +
                           record(4, id(1) + id(0x71) + id(0x72) + id(0) + u4(2) + u4(0)) +
                           record(5, u4(1) + u4(0) + u4(0)) + record(5, u4(2) + u4(5) + u4(1) + id(1)) +
                           record(0x1c, thread + kClasses + kObjects) + record(0x2c, "");
  constexpr uint64_t kMark = kId == 8 ? 3ull << 48 : 0;  // of strings
  constexpr uint64_t kFrameMark = kId == 8 ? kMark : 3ull << 24;
  for (size_t piece : {1u, 7u, 100000u}) {
    for (uint32_t redact : {0u, 2u}) {
      Run run;
      for (int i = 0; i < 3; i++) REQUIRE(run.pass(main, "", "", redact, piece).status == HPROF_OK);
      const Result result = run.pass(main, "", "", redact, piece);
      REQUIRE(result.status == HPROF_OK);
      tags(result.bytes);
      CHECK(has(result.bytes, id(kMark | 0x71) + "number"));
      CHECK(has(result.bytes,
                id(kFrameMark | 1) + id(kMark | 0x71) + id(kMark | 0x72) + id(0) + u4(0x04000002)));
      CHECK(has(result.bytes, u4(0x03000002) + u4(5) + u4(1) + id(kFrameMark | 1)));
      CHECK(has(result.bytes, "\x08" + id(0x900000) + u4(5) + u4(0x03000002)));
      CHECK(has(result.bytes, id(kMark | 0x70) + "\x0a"));  // the name of a static field
      CHECK(has(result.bytes, id(kMark | 0x73) + "\x0b"));
      CHECK(!has(result.bytes, record(5, u4(1) + u4(0) + u4(0))));  // the empty trace is there once
      CHECK(has(result.bytes, u4(0x04000004) + id(0x1018) + u4(0) + id(kMark | 0x63)));
    }
  }
}

TEST_CASE("a dump that breaks off anywhere is not taken for whole") {
  for (size_t size = 0; size < kWhole.size(); size += 13) {
    CHECK(pass(kWhole.substr(0, size), "", "", 0, 1000).status == HPROF_FAILED);
  }
}

TEST_CASE("garbage does no harm") {
  CHECK(pass("no heap dump at all, but long enough for a header", "", "", 0, 50).status == HPROF_FAILED);
  for (size_t at = 19; at < kWhole.size(); at += 5) {
    std::string bytes = kWhole;
    bytes[at] = static_cast<char>(at % 2 == 0 ? 0x7f : 0xff);
    pass(bytes, "", "", at % 3 == 0 ? 2 : 0, 50);
  }
}

}  // namespace hprof
