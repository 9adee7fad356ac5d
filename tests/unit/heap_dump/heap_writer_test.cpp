// Records made of one referrer at a time.
#include "plugins/heap_dump/heap_writer.h"

#include <cstring>
#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

namespace hprof::dump {
namespace {

// Classes: 1 java.lang.Class, 2 with a reference, an int and a static long, 3 Object[], 4 byte[], 5 int[].
struct Heap {
  MockHost host;
  Services services{host.host()};
  ClassLayouts classes;
  HeapWriter writer;

  explicit Heap(Config config = {0, 0, 1, 1, 1}) {
    REQUIRE(classes.open(&services));
    for (int i = 0; i < 5; i++) classes.add();
    for (uint32_t n = 1; n <= 5; n++) classes.at(n).has_fields = 1;
    classes.at(1).kind = classes.at(2).kind = ClassKind::kInstance;
    classes.at(3).kind = ClassKind::kObjectArray;
    classes.at(4).kind = classes.at(5).kind = ClassKind::kPrimitiveArray;
    classes.at(4).element = HPROF_TYPE_BYTE;
    classes.at(5).element = HPROF_TYPE_INT;
    Field* fields = classes.make_fields(3);
    fields[0].type = HPROF_TYPE_OBJECT;
    fields[1].type = HPROF_TYPE_INT;
    fields[2].type = HPROF_TYPE_LONG;
    fields[2].is_static = 1;
    classes.at(2).fields = fields;
    classes.at(2).field_count = 3;
    classes.class_class = 1;
    classes.resolve(sizeof(void*));
    REQUIRE(writer.open(&services, &classes, config));
    writer.begin(false);
  }
  ~Heap() {
    writer.close();
    classes.close();
  }
  template <class T>
  const T& record(size_t index) {
    REQUIRE(host.written.size() > index);
    return host.written[index].as<T>();
  }
};

}  // namespace

TEST_CASE("an instance is written when the next object begins") {
  Heap heap;
  heap.writer.learn_size(10, 2, -1, 24);
  REQUIRE(heap.writer.select(10, 2));
  heap.writer.instance_value(1, HPROF_TYPE_INT, 0x01020304);
  heap.writer.instance_reference(0, 11);
  CHECK(heap.host.written.empty());
  heap.writer.select(11, 2);
  const auto& record = heap.record<hprof_rec_heap_instance>(0);
  CHECK(record.object == 10);
  CHECK(record.class_object == 2);
  CHECK(record.heap_bytes == 24);
  REQUIRE(record.bytes_size == sizeof(void*) + 4);
  CHECK(record.bytes[sizeof(void*) - 1] == 11);
  CHECK(std::memcmp(record.bytes + sizeof(void*), "\1\2\3\4", 4) == 0);
}

TEST_CASE("instances and arrays have the trace that they are selected with") {
  Heap heap;
  heap.writer.select(10, 2, 77);
  heap.writer.instance_value(1, HPROF_TYPE_INT, 1);
  heap.writer.select(10, 2, 0);  // the same, still
  heap.writer.learn_size(11, 3, 2, 24);
  heap.writer.select(11, 3, 78);
  heap.writer.element(1, 10);
  heap.writer.select(12, 4, 79);
  heap.writer.array_values(HPROF_TYPE_BYTE, 3, 24, "abc");
  heap.writer.select(13, 2);
  heap.writer.finish(nullptr);
  CHECK(heap.record<hprof_rec_heap_instance>(0).trace == 77);
  CHECK(heap.record<hprof_rec_heap_array>(1).trace == 78);
  CHECK(heap.record<hprof_rec_heap_array>(2).trace == 79);
  CHECK(heap.record<hprof_rec_heap_instance>(3).trace == 0);
  CHECK(heap.writer.objects() == 4);
  CHECK(heap.writer.traced() == 3);
}

TEST_CASE("an object that is told of twice ends the dump") {
  Heap heap;
  heap.writer.select(10, 2);
  heap.writer.select(11, 2);
  heap.writer.select(10, 2);
  CHECK(heap.writer.status() == HPROF_FAILED);
  CHECK(heap.writer.failure() != nullptr);
}

TEST_CASE("fields of another type or number are counted and left out") {
  Heap heap;
  heap.writer.select(10, 2);
  heap.writer.instance_value(1, HPROF_TYPE_FLOAT, 7);
  heap.writer.instance_value(99, HPROF_TYPE_INT, 7);
  heap.writer.select(11, 2);
  CHECK(heap.host.loss(
            "values of a heap dump: the VM reported a field that the class does not have (dump=vm)") == 2);
  CHECK(heap.record<hprof_rec_heap_instance>(0).bytes[sizeof(void*) + 3] == 0);
}

TEST_CASE("null elements are zero, also behind the last one") {
  Heap heap;
  heap.writer.learn_size(20, 3, 5, 40);
  heap.writer.select(20, 3);
  heap.writer.element(1, 7);
  heap.writer.element(3, 8);
  heap.writer.element(9, 8);  // beyond the end: left out
  heap.writer.finish(nullptr);
  const auto& record = heap.record<hprof_rec_heap_array>(0);
  REQUIRE(record.length == 5);
  const uint64_t wanted[5] = {0, 7, 0, 8, 0};
  CHECK(std::memcmp(record.elements, wanted, sizeof(wanted)) == 0);
  CHECK(record.count == 0);
}

TEST_CASE("a long array comes in parts without a gap") {
  Heap heap;
  const uint32_t length = 3 * HeapWriter::kPart + 5;
  heap.writer.learn_size(20, 3, length, 8 * length);
  heap.writer.select(20, 3);
  heap.writer.element(2, 7);
  heap.writer.element(2 * HeapWriter::kPart, 9);
  heap.writer.select(21, 2);
  uint32_t next = 0, seen = 0;
  for (size_t i = 0; i < heap.host.written.size(); i++) {
    const auto& part = heap.record<hprof_rec_heap_array>(i);
    CHECK(part.length == length);
    CHECK(part.first == next);
    const auto* ids = static_cast<const uint64_t*>(part.elements);
    for (uint32_t e = 0; e < part.count; e++) {
      if (ids[e] != 0) seen += part.first + e == 2 ? ids[e] == 7 : part.first + e == 2 * HeapWriter::kPart;
    }
    next += part.count;
  }
  CHECK(next == length);
  CHECK(seen == 2);
}

TEST_CASE("an array of whole parts has no empty one") {
  for (uint32_t parts : {1, 2}) {
    Heap heap;
    heap.writer.learn_size(20, 3, parts * HeapWriter::kPart, 8 * parts * HeapWriter::kPart);
    heap.writer.select(20, 3);
    heap.writer.element(0, 7);
    heap.writer.select(21, 2);
    CHECK(heap.host.written.size() == parts);
  }
}

TEST_CASE("redact=basic leaves numbers, redact=full leaves nothing but references") {
  const int32_t ints[2] = {5, 6};
  for (uint32_t redact = 0; redact < 3; redact++) {
    Heap heap({0, redact, 1, 1, 1});
    heap.writer.select(30, 4);
    heap.writer.array_values(HPROF_TYPE_BYTE, 6, 24, "secret");
    heap.writer.select(31, 5);
    heap.writer.array_values(HPROF_TYPE_INT, 2, 24, ints);
    CHECK(heap.record<hprof_rec_heap_array>(0).length == 6);
    CHECK((heap.record<hprof_rec_heap_array>(0).elements == nullptr) == (redact != 0));
    CHECK((heap.record<hprof_rec_heap_array>(1).elements == nullptr) == (redact == 2));
  }
}

TEST_CASE("classes that were not told of are written at the end, each once") {
  Heap heap;
  heap.writer.select(2, 1);
  heap.writer.static_value(2, HPROF_TYPE_LONG, 77);
  heap.writer.finish(nullptr);
  REQUIRE(heap.host.written.size() == 5);
  const auto& told = heap.record<hprof_rec_heap_class>(0);
  CHECK(told.object == 2);
  REQUIRE(told.static_count == 1);
  CHECK(told.statics[0].bits == 77);
  CHECK(told.field_count == 2);
  CHECK(told.instance_size == sizeof(void*) + 4);
  CHECK(heap.record<hprof_rec_heap_class>(1).object == 1);
  CHECK(heap.record<hprof_rec_heap_class>(4).object == 5);
}

TEST_CASE("classes that are written first are written once") {
  Heap heap;
  const uint64_t loaders[] = {0, 0, 0, 10, 0, 0};
  CHECK(heap.writer.expect(10, 2));
  for (const uint64_t id : {1, 2}) heap.writer.select(id, 1);
  heap.writer.finish_classes(loaders);
  CHECK(heap.host.written.size() == 5);
  CHECK_FALSE(heap.writer.select(2, 1));
  CHECK(heap.writer.select(10, 2));
  heap.writer.finish(nullptr);
  CHECK(heap.writer.status() == HPROF_OK);
  REQUIRE(heap.host.written.size() == 6);
  CHECK(heap.record<hprof_rec_heap_class>(2).object == 3);
  CHECK(heap.record<hprof_rec_heap_class>(2).loader == 10);
  CHECK(heap.record<hprof_rec_heap_instance>(5).object == 10);
}

TEST_CASE("an expected object that is not reported is written without values, others once") {
  Heap heap;
  CHECK(heap.writer.expect(10, 2));
  CHECK(heap.writer.expect(11, 2));
  CHECK(heap.writer.expect(20, 4));
  heap.writer.select(11, 2);
  heap.writer.instance_value(1, HPROF_TYPE_INT, 7);
  heap.writer.finish(nullptr);
  REQUIRE(heap.host.written.size() == 8);
  CHECK(heap.record<hprof_rec_heap_instance>(0).object == 11);
  CHECK(heap.record<hprof_rec_heap_instance>(1).object == 10);
  CHECK(heap.record<hprof_rec_heap_array>(2).object == 20);
  CHECK(heap.record<hprof_rec_heap_array>(2).length == 0);
}

TEST_CASE("a lost output ends the walk") {
  Heap heap;
  heap.host.write_status = HPROF_ABORTED;
  heap.writer.select(10, 2);
  heap.writer.select(11, 2);
  CHECK(heap.writer.status() == HPROF_ABORTED);
}

TEST_CASE("counting writes nothing and finds the same objects again") {
  Heap heap;
  heap.writer.begin(true);
  heap.writer.learn_size(10, 2, -1, 24);
  heap.writer.learn_size(20, 4, 3, 24);
  heap.writer.select(10, 2);
  heap.writer.select(20, 4);
  heap.writer.array_values(HPROF_TYPE_BYTE, 3, 24, "abc");
  heap.writer.finish(nullptr);
  CHECK(heap.host.written.empty());
  CHECK(heap.writer.objects() == 2);
  CHECK(heap.writer.bytes() == 48);
  heap.writer.begin(false);
  CHECK(heap.writer.select(10, 2));
  CHECK(heap.writer.status() == HPROF_OK);
}

}  // namespace hprof::dump
