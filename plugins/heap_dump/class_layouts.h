// The classes of a dump: numbers, fields, and the place of each field's value in an INSTANCE DUMP. Knows no
// VM.
//
// A class has the same number in all dumps of a session: its object id and its tag. Numbers begin at 1.
//
// JVMTI numbers the fields of a class C as follows (jvmtiHeapReferenceInfoField): first
// those of all interfaces that C or a super implements, each interface once; then those of the supers,
// java.lang.Object's first; then C's own, as GetClassFields lists them; static and instance fields alike. An
// INSTANCE DUMP has the values of C's own instance fields first, then its super's.
#pragma once

#include <cstdint>

#include <hprof/cpp/dump_types.hpp>
#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::dump {

struct Field {
  hprof_string_id name;
  uint32_t offset;   // of an instance field in its class's values, in bytes
  uint16_t ordinal;  // the same, counted in fields
  uint8_t type;      // HPROF_TYPE_*
  uint8_t is_static;
};

enum class ClassKind : uint8_t { kUnknown, kInstance, kObjectArray, kPrimitiveArray };

struct ClassEntry {
  void* reference;  // weak JNI reference
  hprof_class_serial serial;
  uint32_t super;          // number of the superclass; 0: none
  uint32_t field_count;    // own fields, static ones included
  uint32_t fields_before;  // fields of superclasses
  uint32_t interface_fields;
  uint32_t interface_count;  // direct ones until resolved, then all that have fields
  uint32_t instance_size;
  uint32_t instance_fields;  // superclasses' included
  uint32_t heap_bytes;       // bytes of an instance according to the VM; 0: not known yet
  ClassKind kind;
  uint8_t element;      // type of an array's elements
  uint8_t has_fields;   // fields are known (the class was linked)
  uint8_t is_resolved;  // offsets and sizes are known
  uint8_t is_gone;      // its weak reference is cleared
  uint8_t is_interface;
  uint8_t reserved[2];
  Field* fields;
  uint32_t* interfaces;
};

// A field of a class or of a superclass, by JVMTI's number.
struct FoundField {
  const Field* field;  // nullptr: there is no such field
  uint32_t offset;     // in the INSTANCE DUMP
  uint32_t ordinal;    // among all instance fields in that order
};

class ClassLayouts {
 public:
  static constexpr uint32_t kMost = 256 * 1024;
  static constexpr uint64_t kArenaBytes = sizeof(void*) < 8 ? 16u << 20 : 64u << 20;

  bool open(const Services* services);
  void close();

  // The number for one more class; 0: full. [control]
  uint32_t add();
  uint32_t count() const { return count_; }
  bool has(uint64_t number) const { return number != 0 && number <= count_; }
  ClassEntry& at(uint64_t number) { return entries_[number]; }
  const ClassEntry& at(uint64_t number) const { return entries_[number]; }

  // Room for a class's fields and interfaces; nullptr: full. [control]
  Field* make_fields(uint32_t count);
  uint32_t* make_numbers(uint32_t count);

  // Computes offsets and sizes of all classes whose fields, superclass and interfaces are known. [control]
  void resolve(uint32_t id_size);

  // A field of an object of class `number`, or a static field of the class itself. [heap]
  FoundField instance_field(uint32_t number, uint32_t index) const;
  const Field* static_field(uint32_t number, uint32_t index) const;

  uint32_t class_class = 0;  // number of java.lang.Class

 private:
  bool try_resolve(ClassEntry& entry, uint32_t id_size);
  bool gather_interfaces(ClassEntry& entry);
  void* take(uint64_t bytes);

  const Services* services_ = nullptr;
  LazyTable<ClassEntry> entries_;  // index: number
  uint32_t count_ = 0;
  LazyTable<uint8_t> arena_;
  uint64_t arena_used_ = 0;
};

}  // namespace hprof::dump
