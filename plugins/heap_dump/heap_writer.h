// Makes records of a heap that is reported one referrer at a time: its class, then its fields or elements.
// Knows no VM.
//
// One object is held at a time and written when the next one begins, so memory does not grow with the heap,
// except for the lengths of arrays of objects and one bit per object whose id is a tag. If such an object
// begins twice, the dump ends: this VM does not report objects in one piece. [heap]
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/services.hpp>

#include "class_layouts.h"
#include "config.h"
#include "page_table.h"

namespace hprof::dump {

// The references of a class besides its static fields.
enum class ClassLink : uint32_t { kSuper, kLoader, kSigners, kDomain };

class HeapWriter {
 public:
  // Elements of an object array held at a time; longer arrays are written in parts.
  static constexpr uint32_t kPart = 64 * 1024;
  static constexpr uint32_t kMostValues = 65535;
  static constexpr uint32_t kMostBare = 1024;
  static constexpr uint64_t kMostExpected = 1u << 24;
  static constexpr uint64_t kFirstArrays = 1u << 12;
  static constexpr uint64_t kMostArrays = 1u << 30;
  static constexpr uint64_t kNoAddress = 0;

  bool open(const Services* services, ClassLayouts* classes, const Config& config);
  // Ids from here on are addresses, never checked for repetition. kNoAddress: there are none.
  void set_first_address(uint64_t id) { first_address_ = id; }
  void close();
  // counting: objects and bytes are counted, nothing is written.
  void begin(bool counting);

  // A root. thread: its serial, or 0.
  void root(const hprof_rec_heap_root& root);
  // Length (-1: no array) and heap bytes of a referenced object; needed once.
  void learn_size(uint64_t id, uint32_t class_number, int64_t length, uint64_t bytes);
  bool is_selected(uint64_t id) const { return id == id_; }
  // Starts an object; the calls below are about it. trace: where it was allocated, 0: not known; ignored if
  // the object is selected already. False: its class is not known, so it cannot be dumped.
  bool select(uint64_t id, uint32_t class_number, hprof_trace_serial trace = 0);
  void instance_reference(uint32_t index, uint64_t to);
  void instance_value(uint32_t index, uint32_t type, uint64_t bits);
  void element(uint32_t index, uint64_t to);
  void array_values(uint32_t type, uint32_t length, uint64_t bytes, const void* elements);
  void class_link(ClassLink link, uint64_t to);
  void class_constant(uint32_t index, uint64_t to);
  void static_value(uint32_t index, uint32_t type, uint64_t bits);
  // A class object of none of the classes in the table, int.class or a class loaded meanwhile. VMs refer to
  // these without reporting them.
  void note_bare_class(uint64_t id) {
    if (bare_count_ < kMostBare) bare_[bare_count_++] = id;
  }
  // An object that a class refers to, and that has its id before the heap is walked. If it is not reported
  // then, since it died meanwhile, it is written without values. False: no memory.
  bool expect(uint64_t id, uint32_t class_number);
  // Writes the known classes that the VM did not report; later reports of classes are ignored.
  void finish_classes(const uint64_t* loaders);
  // Writes the current object, then the known classes and the expected objects that the VM did not report.
  // loaders: an expected object or 0 by class number; nullptr: none.
  void finish(const uint64_t* loaders);

  // Ends the dump with an error. words must outlive it.
  void fail(const char* why);
  bool is_written(uint64_t id) const { return begun_.has(id); }
  hprof_status status() const { return status_; }
  const char* failure() const { return failure_; }
  uint64_t objects() const { return objects_; }  // instances and arrays
  uint64_t bytes() const { return bytes_; }      // their size on the heap
  uint64_t traced() const { return traced_; }    // objects with a trace

 private:
  enum class Kind : uint32_t { kNone, kClass, kInstance, kObjectArray, kPrimitiveArray };

  void begin_object(uint64_t id, uint32_t class_number, hprof_trace_serial trace);
  void write_classes_left(const uint64_t* loaders);
  void write_dead();
  void write_object();
  void write_class(uint32_t number);
  void write_instance();
  void write_array_rest();
  void write_part(uint32_t end);
  void fill_header(hprof_rec_heap_array* record, uint32_t kind, uint64_t bytes);
  void emit(hprof_record* record);
  void put_bytes(uint32_t offset, uint32_t type, uint64_t bits);
  uint64_t heap_bytes() const { return uint64_t{array_.words} * 8; }
  void count(uint64_t bytes) {
    objects_++;
    bytes_ += bytes;
    traced_ += trace_ != 0 ? 1 : 0;
  }

  const Services* services_ = nullptr;
  ClassLayouts* classes_ = nullptr;
  Config config_ = {};
  uint32_t id_size_ = sizeof(void*);
  bool as_bytes_ = true;
  bool as_fields_ = true;
  bool counting_ = false;
  struct ArraySize {
    uint32_t length;
    uint32_t words;  // size on the heap, in 8-byte words
  };

  struct Expected {
    uint64_t id;
    uint32_t class_number;
  };

  IdSet begun_;
  LazyTable<Expected> expected_;
  uint64_t expected_count_ = 0;
  bool has_classes_ = false;  // all classes are written
  uint64_t first_address_ = kNoAddress;
  HashTable<ArraySize, Growth::kMoves> arrays_;  // object arrays; those of primitives come with their
                                                 // elements
  uint64_t* lost_fields_ = nullptr;

  Kind kind_ = Kind::kNone;
  uint64_t id_ = 0;
  uint32_t class_ = 0;
  hprof_trace_serial trace_ = 0;
  ArraySize array_ = {};
  uint32_t part_begin_ = 0;   // first element in elements_
  uint32_t part_filled_ = 0;  // elements in elements_
  bool array_written_ = false;
  hprof_rec_heap_class links_ = {};

  LazyTable<uint8_t> bytes_buffer_;  // an instance's bytes
  LazyTable<uint64_t> elements_;
  LazyTable<hprof_value> values_;  // an instance's fields
  LazyTable<hprof_value> constants_;
  LazyTable<hprof_value> statics_;

  uint64_t bare_[kMostBare];
  uint32_t bare_count_ = 0;

  hprof_status status_ = HPROF_OK;
  const char* failure_ = nullptr;
  uint64_t objects_ = 0;
  uint64_t bytes_ = 0;
  uint64_t traced_ = 0;
};

}  // namespace hprof::dump
