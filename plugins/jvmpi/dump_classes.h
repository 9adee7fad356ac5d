// The classes of a heap dump: the place of each field's value in a record.
//
// JVMTI numbers the fields of all interfaces of a class first, then those of its supers from the topmost on;
// a record has those of the class itself first, in the order of CLASS_LOAD.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "arena.h"
#include "classes.h"

namespace hprof::jvmpi {

// A field's place after the head of a record. width 0: it has none.
struct DumpField {
  uint32_t at;
  uint8_t width;
  bool is_static;
};

struct DumpClass {
  uint64_t number;
  jint kind;        // of its instances, as in ClassInfo
  bool has_fields;  // CLASS_LOAD says which
  bool is_laid_out;
  uint64_t super;      // number
  uint64_t component;  // of an array of objects: number of the innermost component's class; 0: none
  const uint64_t* interfaces;
  uint32_t interface_count;
  uint32_t first_field;  // JVMTI's number of the topmost super's first field
  uint32_t own_count;
  const char* own;  // types of its own fields as in signatures, those of static fields in lower case
  uint32_t field_count;
  const DumpField* fields;  // its supers', then its own
  uint32_t instance_bytes;
  uint32_t static_bytes;
  uint32_t mark;  // while interfaces are counted
};

// Bytes of a primitive value; type: its letter in signatures (also jvmtiPrimitiveType), or that in lower
// case. [any]
uint32_t width_of_primitive(char type);

class DumpClasses {
 public:
  // values: true if primitive fields are in the dump.
  DumpClasses(const Vm& vm, Classes* classes, bool values)
      : vm_(vm), classes_(*classes), values_(values), arena_(vm.services) {}
  ~DumpClasses() { table_.close(); }
  DumpClasses(const DumpClasses&) = delete;
  DumpClasses& operator=(const DumpClasses&) = delete;

  // All classes that are loaded. False: no memory, or the VM refuses. [app]
  bool take(JNIEnv* jni);
  uint64_t of_classes() const { return of_classes_; }  // number of java.lang.Class
  // The class, its supers and all that they implement.
  bool take_of(JNIEnv* jni, jclass cls);
  // Null: it was not loaded then, or is a class of hprof. [any]
  DumpClass* find(uint64_t number) const;
  // The same, for a record of an instance or of the class itself. Null: no memory, too. [app][heap]
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
