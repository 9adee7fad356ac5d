#include "heap.h"

#include <initializer_list>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

HeapSizes heap_sizes(JNIEnv* jni) {
  jlong sizes[2] = {};
  if (jni->ExceptionCheck() == JNI_TRUE) return {0, 0};
  Local<jclass> cls(jni, jni->FindClass("java/lang/Runtime"));
  jmethodID get =
      cls != nullptr ? jni->GetStaticMethodID(cls, "getRuntime", "()Ljava/lang/Runtime;") : nullptr;
  jmethodID total = get != nullptr ? jni->GetMethodID(cls, "totalMemory", "()J") : nullptr;
  jmethodID free = total != nullptr ? jni->GetMethodID(cls, "freeMemory", "()J") : nullptr;
  Local<jobject> runtime(jni, free != nullptr ? jni->CallStaticObjectMethod(cls, get) : nullptr);
  int known = 0;
  for (jmethodID method : {total, free}) {
    if (jni->ExceptionCheck() == JNI_TRUE || runtime == nullptr) break;
    sizes[known++] = jni->CallLongMethod(runtime, method);
  }
  clear_exception(jni);
  return {sizes[0], sizes[1]};
}

HeapList::~HeapList() {
  while (first_ != nullptr) {
    Chunk* next = first_->next;
    vm_.services.release(first_, 1);
    first_ = next;
  }
}

bool HeapList::add(const HeapObject& object) {
  if (last_ == nullptr || last_->count == kObjects) {
    Chunk* fresh = vm_.services.allocate<Chunk>(1);
    if (fresh == nullptr) return false;
    (last_ != nullptr ? last_->next : first_) = fresh;
    last_ = fresh;
  }
  last_->objects[last_->count++] = object;
  size_++;
  return true;
}

jint JNICALL HeapList::visit(jlong class_tag, jlong size, jlong* tag, jint, void* self) {
  auto* list = static_cast<HeapList*>(self);
  if (!list->wants_(list->asked_, number_of_tag(class_tag))) return 0;
  const bool was_told = (*tag & kTold) != 0;
  const uint64_t number = *tag != 0 ? number_of_tag(*tag) : list->ids_.take();
  if (number == 0 || !list->add({number, number_of_tag(class_tag), size, was_told})) {
    list->failed_ = true;
    return JVMTI_VISIT_ABORT;
  }
  *tag = static_cast<jlong>(number) | (*tag & ~kNumber) | list->flags_;
  return 0;
}

bool HeapList::take(jlong flags, bool (*wants)(void* self, uint64_t cls), void* self) {
  flags_ = flags;
  wants_ = wants;
  asked_ = self;
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_iteration_callback = &HeapList::visit;
  ids_.begin_walk();
  return vm_.jvmti->IterateThroughHeap(0, nullptr, &callbacks, this) == JVMTI_ERROR_NONE && !failed_;
}

}  // namespace hprof::jvmpi
