// All objects of the heap, in chunks: a walk records them for events that cannot be sent at a safepoint.
#pragma once

#include "ids.h"

namespace hprof::jvmpi {

// Bytes of the heap by java.lang.Runtime; zeros: the calls failed, or an exception is pending. [app]
struct HeapSizes {
  jlong total, free;
};
[[gnu::cold]] HeapSizes heap_sizes(JNIEnv* jni);

struct HeapObject {
  uint64_t number;
  uint64_t cls;  // class number; 0: not known yet
  int64_t size;
  bool was_told;
};

class HeapList {
 public:
  HeapList(const Vm& vm, Ids* ids) : vm_(vm), ids_(*ids) {}
  ~HeapList();
  HeapList(const HeapList&) = delete;
  HeapList& operator=(const HeapList&) = delete;

  // Walks the heap, unreachable objects included, and gives an id to each object for which wants(self, class
  // number) is true [heap]; `flags` go into its tag. False: no memory, or no walk. [app]
  bool take(jlong flags, bool (*wants)(void* self, uint64_t cls), void* self);
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      for (uint32_t i = 0; i < chunk->count; i++) visit(chunk->objects[i]);
    }
  }
  uint64_t size() const { return size_; }

 private:
  static constexpr uint32_t kObjects = 8000;
  struct Chunk {
    Chunk* next;
    uint32_t count;
    HeapObject objects[kObjects];
  };

  static jint JNICALL visit(jlong class_tag, jlong size, jlong* tag, jint length, void* self);
  bool add(const HeapObject& object);

  const Vm& vm_;
  Ids& ids_;
  jlong flags_ = 0;
  bool (*wants_)(void* self, uint64_t cls) = nullptr;
  void* asked_ = nullptr;
  bool failed_ = false;
  uint64_t size_ = 0;
  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
};

}  // namespace hprof::jvmpi
