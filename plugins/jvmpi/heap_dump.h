// HEAP_DUMP and OBJECT_DUMP: the heap as bytes.
//
// One walk over the reachable objects. An instance or an array of primitives gets its record when the VM
// visits it. Class objects, of which the VM may report nothing, and arrays of objects, whose length is only
// reported with the first reference, get their record at that reference, with null references that are filled
// in later. So only these need an index of positions; all others take two bits of memory, and what
// ObjectFacts keeps.
#pragma once

#include <hprof/cpp/text.hpp>

#include "bridge.h"
#include "dump_bytes.h"
#include "dump_classes.h"

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
        text_(vm_.services),
        beyond_{sizeof(beyond_), 0, vm_.services.mem->reserve, vm_.services.mem->unreserve} {}
  ~HeapDump() {
    marks_.close();
    places_.close();
  }
  HeapDump(const HeapDump&) = delete;
  HeapDump& operator=(const HeapDump&) = delete;

  // Fill in the event; its pointers live as long as this object. False: see explain(). [app]
  bool take_heap(JVMPI_HeapDump* dump);
  bool take_object(jobject object, jint* size, char** bytes);
  // Appends why there is no dump.
  void explain(TextBuffer* to) const;
  uint64_t size() const { return text_.size(); }

 private:
  struct Thread {
    uint64_t number;  // of its Thread object
    JNIEnv* env;
    jint frames;
  };
  // The position of an object's record, and its class; for a class dump: that class.
  struct Record {
    uint64_t number;
    uint64_t at;
    const DumpClass* cls;
  };
  using Table = HashTable<uint64_t, Growth::kMoves>;
  enum class Failure : uint32_t { kNone, kText, kIndex, kLists, kOrder, kVm, kSize };

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
  // Gives a record to each class of elements that has none yet.
  bool add_element_classes();
  // The number of an object, which is in the dump from now on; 0: left out. [heap]
  uint64_t see(jlong class_tag, jlong* tag, jlong size, jint length);
  bool announce(uint64_t number, uint64_t cls, jint length);
  // The record of the object that the VM visits, a new one if need be; null: none. [heap]
  const Record* record(jlong tag, jlong class_tag);
  void add_record(uint64_t number, const DumpClass& of, jint length);
  void add_class(const DumpClass& cls);
  // `info` is null for kinds of references that have none.
  [[gnu::cold]] void root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, uint64_t number);
  void refer(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const Record& from,
             uint64_t to);
  // The marks of 32 objects: a low bit for each in the dump, a high bit for each that has its record.
  uint64_t* marks(uint64_t number) const { return marks_.find(number >> 5); }
  static uint64_t is_seen(uint64_t number) { return uint64_t{1} << (number & 31); }
  static uint64_t is_written(uint64_t number) { return is_seen(number) << 32; }
  static const DumpField* field(const DumpClass& cls, jint index);
  static uint64_t place(const Record& of, const DumpField& field);
  bool fail(Failure why) {
    if (failure_ == Failure::kNone) failure_ = why;
    return false;
  }
  bool failed() const { return failure_ != Failure::kNone || text_.failed(); }

  static constexpr jint kDepth = 64;
  static constexpr uint64_t kId = sizeof(jobjectID);
  // Sizes of record heads; for a class dump also the positions of its links.
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
  DumpBytes text_;
  hprof_mem_service beyond_;  // its memory does not count towards max-memory=
  Pages<uint64_t> marks_;     // by number / 32
  Table places_;              // positions of records made at the first reference, by number
  Record last_ = {};          // the object that the VM is visiting
  uint64_t objects_ = 0;
  uint64_t unwritten_ = 0;  // objects in the dump without a record
  Thread* threads_ = nullptr;
  jint thread_count_ = 0;
  bool is_one_object_ = false;
  Failure failure_ = Failure::kNone;
};

}  // namespace hprof::jvmpi
