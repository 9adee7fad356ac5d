// Heap dumps of the binary encoder: contents, segments, arrays beyond every bound.
#include <cstring>
#include <doctest/doctest.h>

#include "tests/unit/golden/binary_reader.h"
#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/recording.h"

using namespace hprof;

namespace {

const hprof_unit& unit() { return mock_unit(hprof_module_encoder_binary, "encoder_binary"); }

constexpr uint64_t kSegment = 1 << 20;

// Leaves memory for segments of that size.
MockHost& limited(MockHost& host, uint64_t segment) {
  MockHost probe;
  const EncoderRun run(probe, unit());
  host.memory_limit = probe.memory_used - kSegment + segment;
  return host;
}

// A dump with only what a test puts in.
struct Dump {
  MockHost host;
  EncoderRun run;
  explicit Dump(uint64_t segment = kSegment, uint32_t id_size = 8, uint32_t chunk = 65536)
      : run(limited(host, segment), unit(), {}, chunk) {
    auto begin = make_record<hprof_rec_file_begin>(HPROF_RECORD_FILE_BEGIN);
    begin.id_size = id_size;
    begin.heap_dump = 1;
    CHECK(run.encode(&begin.head) == HPROF_OK);
    auto dump = make_record<hprof_rec_heap_dump>(HPROF_RECORD_HEAP_DUMP_BEGIN);
    CHECK(run.encode(&dump.head) == HPROF_OK);
  }
  void end() {
    auto dump = make_record<hprof_rec_heap_dump>(HPROF_RECORD_HEAP_DUMP_END);
    CHECK(run.encode(&dump.head) == HPROF_OK);
  }
  BinaryFile file() {
    end();
    return read_binary(run.bytes());
  }
};

hprof_rec_heap_array bytes_of(hprof_object_id object,
                              std::string&& bytes) = delete;  // it would not live long enough
hprof_rec_heap_array bytes_of(hprof_object_id object, const std::string& bytes) {
  auto array = make_record<hprof_rec_heap_array>(HPROF_RECORD_HEAP_PRIMITIVE_ARRAY);
  array.object = object;
  array.type = HPROF_TYPE_BYTE;
  array.length = static_cast<uint32_t>(bytes.size());
  array.elements = bytes.data();
  return array;
}

}  // namespace

TEST_CASE("a reader finds the objects of the recorded dump") {
  Recording recording;
  EncoderRun run(recording.host, unit());
  recording.play([&](const hprof_record* record) { run.encode(record); });
  const BinaryFile file = read_binary(run.bytes());
  REQUIRE(file.error == "");
  CHECK(file.dumps == 1);
  CHECK(file.segments.size() == 1);
  REQUIRE(file.roots.size() == 9);
  CHECK(file.roots[0].thread == 200000 + recording.main_thread);
  CHECK(file.roots[0].trace == 300000 + recording.thread_trace);
  CHECK(file.roots[1].reference == 0x7f0012345678);
  CHECK(file.roots[2].frame == -1);
  CHECK(file.roots[3].frame == 1);
  CHECK(file.roots[5].object == 0x101);

  const auto& node = file.class_dumps.at(0x103);
  CHECK(node.super == 0x101);
  CHECK(node.loader == 0x401);
  CHECK(node.signers == 0x402);
  CHECK(node.domain == 0x403);
  CHECK(node.instance_size == 12);
  REQUIRE(node.constants.size() == 2);
  CHECK(node.constants[1].index == 20);
  CHECK(node.constants[1].bits == 0xffffffff);
  const uint64_t want[] = {0x301,  0,      42,   0x1122334455667788, 1,
                           0x263a, 0xfffe, 0x80, 0x3f800000,         0x3ff0000000000000};
  REQUIRE(node.statics.size() == 10);
  for (size_t i = 0; i < 10; i++) CHECK(node.statics[i].bits == want[i]);
  CHECK(node.statics[3].name == "LONG");
  REQUIRE(node.fields.size() == 2);
  CHECK(node.fields[0].name == "next");
  CHECK(node.fields[1].type == HPROF_TYPE_INT);

  using namespace std::string_literals;
  CHECK(file.objects.at(0x301).bytes == "\0\0\0\0\0\0\3\2\0\0\0\7"s);
  CHECK(file.objects.at(0x301).class_object == 0x103);
  CHECK(file.objects.at(0x302).bytes == std::string(12, '\0'));
  CHECK(file.objects.at(0x303).bytes == "\0\0\0\0\0\0\3\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\2"s);
  CHECK(file.objects.at(0x303).class_object == 0x104);
  CHECK(file.objects.at(0x304).bytes == "\0\0\0\1\xff\xff\xff\xfe\1\2\3\4"s);
  CHECK(file.objects.at(0x305).bytes == std::string(12, '\0'));
  CHECK(file.objects.at(0x306).length == 0);
}

TEST_CASE("segments are bounded, and cut between objects") {
  Dump dump(256);
  for (uint64_t i = 1; i <= 100; i++) {
    const std::string bytes(i, static_cast<char>(i));
    const auto array = bytes_of(i, bytes);
    CHECK(dump.run.encode(&array.head) == HPROF_OK);
  }
  const BinaryFile file = dump.file();
  REQUIRE(file.error == "");
  CHECK(file.objects.size() == 100);
  CHECK(file.segments.size() > 20);
  for (uint64_t size : file.segments) CHECK(size <= 256);
  CHECK(file.objects.at(77).bytes == std::string(77, 77));
}

TEST_CASE("an object larger than a segment gets one of its own, in its place") {
  for (uint32_t chunk : {1u, 7u, 100u, 65536u}) {
    Dump dump(256, 8, chunk);
    std::string big(100000, 0);
    for (size_t i = 0; i < big.size(); i++) big[i] = static_cast<char>(i * 7);
    const std::string abc = "abc", xyz = "xyz";
    const auto small = bytes_of(1, abc), large = bytes_of(2, big), last = bytes_of(3, xyz);
    for (const auto* array : {&small, &large, &last}) CHECK(dump.run.encode(&array->head) == HPROF_OK);
    const BinaryFile file = dump.file();
    REQUIRE(file.error == "");
    REQUIRE(file.segments.size() == 3);
    CHECK(file.segments[1] == 1 + 8 + 4 + 4 + 1 + big.size());
    CHECK(file.objects.at(2).bytes == big);
    CHECK(file.objects.at(3).bytes == "xyz");
  }
}

TEST_CASE("every fill of the segment at which the next object comes is right") {
  for (size_t first = 200; first < 260; first++) {
    Dump dump(256, 4);
    const std::string a(first - 14, 'a'), b(20, 'b');
    const auto one = bytes_of(1, a), two = bytes_of(2, b);
    CHECK(dump.run.encode(&one.head) == HPROF_OK);
    CHECK(dump.run.encode(&two.head) == HPROF_OK);
    const BinaryFile file = dump.file();
    REQUIRE(file.error == "");
    CHECK(file.segments.size() == (first + 34 <= 256 ? 1 : 2));
    CHECK(file.objects.size() == 2);
  }
}

TEST_CASE("a class with more fields than a segment holds is whole") {
  Dump dump(4096);
  const hprof_string_id name = dump.host.string("f");
  auto define = make_record<hprof_rec_definition>(HPROF_RECORD_STRING);
  define.id = name;
  dump.run.encode(&define.head);
  std::vector<hprof_value> values(65535, hprof_value{name, 1, HPROF_TYPE_LONG, 0, 5});
  auto record = make_record<hprof_rec_heap_class>(HPROF_RECORD_HEAP_CLASS);
  record.object = 1;
  record.constant_count = record.static_count = record.field_count = 65535;
  record.constants = record.statics = record.fields = values.data();
  CHECK(dump.run.encode(&record.head) == HPROF_OK);
  const BinaryFile file = dump.file();
  REQUIRE(file.error == "");
  CHECK(file.class_dumps.at(1).statics.size() == 65535);
  CHECK(file.class_dumps.at(1).fields.size() == 65535);
  CHECK(file.class_dumps.at(1).constants[65534].bits == 5);
}

TEST_CASE("primitive arrays of every type are big-endian, from elements at any address") {
  const uint32_t types[] = {HPROF_TYPE_BOOLEAN, HPROF_TYPE_CHAR,  HPROF_TYPE_FLOAT, HPROF_TYPE_DOUBLE,
                            HPROF_TYPE_BYTE,    HPROF_TYPE_SHORT, HPROF_TYPE_INT,   HPROF_TYPE_LONG};
  const uint32_t widths[] = {1, 2, 4, 8, 1, 2, 4, 8};
  Dump dump;
  for (uint32_t i = 0; i < 8; i++) {
    alignas(8) uint8_t memory[17] = {};
    const uint64_t value = 0x1122334455667788;
    const uint16_t two = 0x7788;
    const uint32_t four = 0x55667788;
    const uint8_t one = 0x88;
    const void* from[] = {&one, &two, &four, &value};
    const uint32_t slot = widths[i] == 1 ? 0 : widths[i] == 2 ? 1 : widths[i] == 4 ? 2 : 3;
    std::memcpy(memory + 1, from[slot], widths[i]);
    auto array = make_record<hprof_rec_heap_array>(HPROF_RECORD_HEAP_PRIMITIVE_ARRAY);
    array.object = i + 1;
    array.type = types[i];
    array.length = 1;
    array.elements = memory + 1;
    CHECK(dump.run.encode(&array.head) == HPROF_OK);
  }
  const BinaryFile file = dump.file();
  REQUIRE(file.error == "");
  for (uint32_t i = 0; i < 8; i++) {
    CHECK(file.objects.at(i + 1).bytes ==
          std::string("\x11\x22\x33\x44\x55\x66\x77\x88").substr(8 - widths[i]));
  }
}

TEST_CASE("an object that four bytes cannot tell is null, not another object") {
  Dump dump(kSegment, 4);
  const uint64_t elements[] = {0xfffffffe, 0x1000000fe};
  auto array = make_record<hprof_rec_heap_array>(HPROF_RECORD_HEAP_OBJECT_ARRAY);
  array.object = 9;
  array.length = 2;
  array.elements = elements;
  CHECK(dump.run.encode(&array.head) == HPROF_OK);
  const BinaryFile file = dump.file();
  REQUIRE(file.error == "");
  using namespace std::string_literals;
  CHECK(file.objects.at(9).bytes == "\xff\xff\xff\xfe\0\0\0\0"s);
}

TEST_CASE("roots of no thread are roots of unknown kind") {
  Dump dump;
  for (uint32_t kind : {HPROF_ROOT_THREAD_OBJECT, HPROF_ROOT_JNI_LOCAL, HPROF_ROOT_JAVA_FRAME,
                        HPROF_ROOT_NATIVE_STACK, HPROF_ROOT_THREAD_BLOCK}) {
    auto root = make_record<hprof_rec_heap_root>(HPROF_RECORD_HEAP_ROOT);
    root.root = kind;
    root.object = 1;
    CHECK(dump.run.encode(&root.head) == HPROF_OK);
  }
  const BinaryFile file = dump.file();
  REQUIRE(file.error == "");
  REQUIRE(file.roots.size() == 5);
  for (const auto& root : file.roots) CHECK(root.kind == HPROF_ROOT_UNKNOWN);
}

TEST_CASE("nonsense is refused without a trace in the file") {
  Dump dump;
  const hprof_value value = {0, 0, 3, 0, 0};
  auto owner = make_record<hprof_rec_heap_class>(HPROF_RECORD_HEAP_CLASS);
  owner.field_count = 1;
  owner.fields = &value;
  CHECK(dump.run.encode(&owner.head) == HPROF_FAILED);
  const std::string a = "a";
  auto array = bytes_of(1, a);
  array.type = HPROF_TYPE_OBJECT;
  CHECK(dump.run.encode(&array.head) == HPROF_FAILED);
  array.type = 200;
  CHECK(dump.run.encode(&array.head) == HPROF_FAILED);
  auto instance = make_record<hprof_rec_heap_instance>(HPROF_RECORD_HEAP_INSTANCE);
  instance.bytes_size = UINT32_MAX;
  CHECK(dump.run.encode(&instance.head) == HPROF_FAILED);
  auto root = make_record<hprof_rec_heap_root>(HPROF_RECORD_HEAP_ROOT);
  root.root = 0x55;
  CHECK(dump.run.encode(&root.head) == HPROF_UNSUPPORTED);
  const BinaryFile file = dump.file();
  CHECK(file.error == "");
  CHECK(file.segments.empty());
  CHECK(file.dumps == 1);
}

TEST_CASE("lists that are missing are lists of nothing") {
  Dump dump;
  auto owner = make_record<hprof_rec_heap_class>(HPROF_RECORD_HEAP_CLASS);
  owner.object = 1;
  owner.constant_count = owner.static_count = owner.field_count = 9;
  CHECK(dump.run.encode(&owner.head) == HPROF_OK);
  const BinaryFile file = dump.file();
  CHECK(file.error == "");
  CHECK(file.class_dumps.at(1).fields.empty());
}

TEST_CASE("a dump that nobody ended is ended with the file") {
  Dump dump;
  const std::string abc = "abc";
  const auto array = bytes_of(1, abc);
  dump.run.encode(&array.head);
  auto end = make_record<hprof_rec_definition>(HPROF_RECORD_FILE_END);
  CHECK(dump.run.encode(&end.head) == HPROF_OK);
  const BinaryFile file = read_binary(dump.run.bytes());
  CHECK(file.error == "");
  CHECK(file.dumps == 1);
  CHECK(file.objects.at(1).bytes == "abc");
}

TEST_CASE("an array of more than 4 GiB is cut to what a record can hold, and the loss counted") {
  Dump dump(4096);
  const std::string before = dump.run.bytes();
  dump.run.out.keep_bytes = false;
  auto array = make_record<hprof_rec_heap_array>(HPROF_RECORD_HEAP_PRIMITIVE_ARRAY);
  array.object = 1;
  array.type = HPROF_TYPE_LONG;
  array.length = 0x20000000;
  CHECK(dump.run.encode(&array.head) == HPROF_OK);
  dump.run.bytes();
  const uint64_t most = (UINT32_MAX - 18) / 8;
  CHECK(dump.run.out.total - before.size() == 9 + 18 + most * 8);
  CHECK(dump.host.loss("array elements: a record of format=b holds 4 GiB") == 0x20000000 - most);
}
