#include "core/agent/heap_summary.h"

#include <cstring>

#include <hprof/plugin.h>

#include "core/agent/capabilities.h"

namespace hprof {

namespace {

jint JNICALL count_object(jlong, jlong size, jlong*, jint, void* data) {
  auto* sum = static_cast<HeapSize*>(data);
  sum->bytes += static_cast<uint64_t>(size);
  sum->objects++;
  return JVMTI_VISIT_OBJECTS;
}

}  // namespace

// IterateThroughHeap requires can_tag_objects although nothing is tagged; it is held only during the walk.
bool measure_heap(jvmtiEnv* jvmti, HeapSize* size) {
  jvmtiCapabilities held;
  memset(&held, 0, sizeof(held));
  bool borrow = jvmti->GetCapabilities(&held) != JVMTI_ERROR_NONE || held.can_tag_objects == 0;
  if (borrow && add_capabilities(jvmti, HPROF_NEED_TAG_OBJECTS) == 0) return false;
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_iteration_callback = &count_object;
  jvmtiError error = jvmti->IterateThroughHeap(0, nullptr, &callbacks, size);
  if (borrow) relinquish_capabilities(jvmti, HPROF_NEED_TAG_OBJECTS);
  return error == JVMTI_ERROR_NONE;
}

}  // namespace hprof
