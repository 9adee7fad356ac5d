// HEAP_DUMP and OBJECT_DUMP: the heap as bytes.
//
// One walk over the reachable objects. An object gets its record at first sight, in its full size and with
// all references null; what the walk reports of it later, in any order, is filled in.
#pragma once

#include "plugins/jvmpi/bridge.h"
#include "plugins/jvmpi/dump_bytes.h"
#include "plugins/jvmpi/dump_classes.h"

namespace hprof::jvmpi {

class HeapDump {
 public:
  HeapDump(Bridge* bridge, JNIEnv* jni, jint level)
      : bridge_(*bridge),
        vm_(bridge->vm),
        jni_(jni),
        level_(level),
        arena_(vm_.services),
        classes_(vm_, &bridge->classes, level >= JVMPI_DUMP_LEVEL_2),
        roots_(vm_.services),
        records_(vm_.services) {}
  ~HeapDump() { seen_.close(); }
  HeapDump(const HeapDump&) = delete;
  HeapDump& operator=(const HeapDump&) = delete;

  // Fill in the event; what it points to lives as long as this. False: no memory, or the VM refuses. [app]
  bool take_heap(JVMPI_HeapDump* dump);
  bool take_object(jobject object, jint* size, char** bytes);

 private:
  struct Thread {
    uint64_t number;  // of its Thread object
    JNIEnv* env;
    jint frames;
  };
  // Where an object's record begins, and its class; for a class dump: that class.
  struct Seen {
    uint64_t at;
    const DumpClass* cls;
  };

  static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                   jlong class_tag, jlong referrer_class_tag, jlong size, jlong* tag,
                                   jlong* referrer_tag, jint length, void* self);
  static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                               jlong class_tag, jlong* tag, jvalue value, jvmtiPrimitiveType type,
                               void* self);
  static jint JNICALL on_array(jlong class_tag, jlong size, jlong* tag, jint count, jvmtiPrimitiveType type,
                               const void* elements, void* self);

  bool take_threads(JVMPI_HeapDump* dump);
  const Thread* thread(jlong tag) const;
  bool walk(jobject from);
  // The number of an object, with a record if the dump is to have one; 0: left out. [heap]
  uint64_t see(jlong class_tag, jlong* tag, jint length);
  bool add_record(uint64_t number, uint64_t cls, jint length);
  bool add_class(const DumpClass& cls);
  // `info` is null for the kinds of references that have none.
  void root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, uint64_t number);
  void refer(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const Seen& from, uint64_t to);
  const Seen* seen(const jlong* tag) const;
  static const DumpField* field(const DumpClass& cls, jint index);
  static uint64_t place(const Seen& of, const DumpField& field);
  bool failed() const { return failed_ || records_.failed() || roots_.failed(); }

  static constexpr jint kDepth = 64;
  static constexpr uint64_t kId = sizeof(jobjectID);
  // Sizes of the heads of records; for a class dump also where its links are.
  static constexpr uint64_t kInstanceHead = 1 + 2 * kId + 4;
  static constexpr uint64_t kObjectArrayHead = 1 + kId + 4 + kId;
  static constexpr uint64_t kValueArrayHead = 1 + kId + 4 + 1;
  static constexpr uint64_t kLoaderAt = 1 + 2 * kId;
  static constexpr uint64_t kSignersAt = 1 + 3 * kId;
  static constexpr uint64_t kDomainAt = 1 + 4 * kId;
  static constexpr uint64_t kInterfacesAt = 1 + 7 * kId + 4;

  Bridge& bridge_;
  const Vm& vm_;
  JNIEnv* jni_;
  jint level_;
  Arena arena_;
  DumpClasses classes_;
  DumpBytes roots_;  // all of a heap dump, once the walk is over
  DumpBytes records_;
  HashTable<Seen, Growth::kMoves> seen_;  // by number
  Thread* threads_ = nullptr;
  jint thread_count_ = 0;
  bool is_one_object_ = false;
  bool failed_ = false;
};

}  // namespace hprof::jvmpi
