// Foreign dumps: the VM's own on its way through the encoder.
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <string>

#include <hprof/cpp/byte_order.hpp>
#include <hprof/draft/foreign_dump.h>

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

// The mock's own looks at every byte that is given back; most of these are never touched.
const hprof_mem_service kMem = {sizeof(hprof_mem_service),
                                0,
                                [](const hprof_host*, uint64_t bytes) { return calloc(1, bytes); },
                                [](const hprof_host*, void* memory, uint64_t) { free(memory); },
                                [](const hprof_host*, uint64_t bytes) { return calloc(1, bytes); },
                                [](const hprof_host*, void* memory, uint64_t) { free(memory); },
                                [](const hprof_host*, uint64_t) { return uint32_t{1}; },
                                [](const hprof_host*, uint64_t) {}};

struct Result {
  hprof_status status;
  std::string bytes;  // of the dump: without those before it
  uint64_t traced;
};

using Traces = std::map<uint64_t, hprof_trace_serial>;  // by address

// What heap=dump leaves out with redact=none, basic and full.
constexpr uint32_t kRedact[] = {
    0, HPROF_FOREIGN_NO_TEXT,
    HPROF_FOREIGN_NO_FIELDS | HPROF_FOREIGN_NO_ARRAYS | HPROF_FOREIGN_NO_TEXT | HPROF_FOREIGN_NO_STRINGS};

class Run {
 public:
  Run() : run_(host_with_memory(), mock_unit(hprof_module_encoder_binary, "encoder_binary")) {
    run_.out.let_patch();
    auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    begin.id_size = kId;
    begin.heap_dump = 1;
    REQUIRE(run_.encode(&begin.head) == HPROF_OK);
    // The empty trace, which the encoder writes ahead of the first record that may name it.
    auto trace = make_record<hprof_rec_definition>(HPROF_RECORD_TRACE);
    REQUIRE(run_.encode(&trace.head) == HPROF_OK);
  }

  // Feeds both streams in pieces of `piece` bytes; late: what stream 0 has after stream 1.
  Result pass(const std::string& main, const std::string& objects, const std::string& late, uint32_t redact,
              size_t piece, const Traces& traces = {}) {
    const size_t before = run_.bytes().size();
    hprof_foreign_dump dump = {};
    dump.size = sizeof dump;
    dump.flags = kRedact[redact] | (objects.empty() ? 0 : HPROF_FOREIGN_APART);
    dump.argument = const_cast<Traces*>(&traces);
    if (!traces.empty()) dump.trace_of = &trace_of;
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
  static hprof_trace_serial trace_of(void* argument, uint64_t address) {
    const auto& traces = *static_cast<const Traces*>(argument);
    const auto at = traces.find(address);
    return at != traces.end() ? at->second : 0;
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
