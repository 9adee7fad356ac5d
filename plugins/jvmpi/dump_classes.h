// The classes of a heap dump: the place of each field's value in a record.
//
// JVMTI numbers the fields of all interfaces of a class first, then those of its superclasses, Object's
// first; a record has the class's own first, in the order of CLASS_LOAD.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "arena.h"
#include "classes.h"

namespace hprof::jvmpi {

// The position of a field's value after the head of its record. width 0: it is not in there.
struct DumpField {
  uint32_t at;
  uint8_t width;
  bool is_static;
};

struct DumpClass {
  uint64_t number;
  jint kind;        // of its instances, as in ClassInfo
  bool has_fields;  // CLASS_LOAD lists them
  bool is_laid_out;
  uint64_t super;      // number of the superclass
  uint64_t component;  // array of objects: number of the innermost component's class; 0: no such array
  const uint64_t* interfaces;
  uint32_t interface_count;
  uint32_t first_field;  // JVMTI's number of the first field after the interfaces'
  uint32_t own_count;
  const char* own;  // type letters of its own fields, static fields in lower case
  uint32_t field_count;
  const DumpField* fields;  // the superclasses', then its own
  uint32_t instance_bytes;
  uint32_t static_bytes;
  uint32_t mark;  // used to count interfaces once
};

// Bytes of a primitive value; type: its letter in signatures (jvmtiPrimitiveType), in either case. [any]
uint32_t width_of_primitive(char type);

class DumpClasses {
 public:
  // values: primitive fields are in the dump.
  DumpClasses(const Vm& vm, Classes* classes, bool values)
      : vm_(vm), classes_(*classes), values_(values), arena_(vm.services) {}
  ~DumpClasses() { table_.close(); }
  DumpClasses(const DumpClasses&) = delete;
  DumpClasses& operator=(const DumpClasses&) = delete;

  // Takes all loaded classes. False: no memory, or the VM refuses. [app]
  bool take(JNIEnv* jni);
  uint64_t of_classes() const { return of_classes_; }  // number of java.lang.Class
  // Takes a class, its superclasses and their interfaces.
  bool take_of(JNIEnv* jni, jclass cls);
  // Null: it was not loaded at take(), or is one of hprof's. [any]
  DumpClass* find(uint64_t number) const;
  template <class Visit>
  void each(const Visit& visit) const {
    table_.each([&](uint64_t, DumpClass* cls) {
      if (cls != nullptr) visit(*cls);
    });
  }
  // As find(), with the fields' positions in a record. Null: also without memory. [app][heap]
  const DumpClass* laid_out(uint64_t number);

 private:
  bool open(JNIEnv* jni, jclass any);
  bool add(JNIEnv* jni, jclass cls);
  bool add_fields(jclass cls, DumpClass* to);
  bool add_interfaces(JNIEnv* jni, jclass cls, DumpClass* to);
  uint32_t fields_of_interfaces(const DumpClass& of);
  bool lay_out(DumpClass* cls);
  uint32_t width_of(char type) const;

  const Vm& vm_;
  Classes& classes_;
  bool values_;
  Arena arena_;
  HashTable<DumpClass*, Growth::kMoves> table_;  // by number
  uint32_t mark_ = 0;
  uint64_t of_classes_ = 0;
  jmethodID component_of_ = nullptr;  // Class.getComponentType
};

}  // namespace hprof::jvmpi
