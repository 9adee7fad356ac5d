// HEAP_DUMP and OBJECT_DUMP, each from its request to its result. Built for size.
#include "plugins/jvmpi/bridge.h"
#include "plugins/jvmpi/heap_dump.h"

namespace hprof::jvmpi {

bool HeapDump::take_threads(JVMPI_HeapDump* dump) {
  jint count = 0;
  FromVm<jthread> threads(vm_);
  if (vm_.jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return false;
  threads_ = arena_.allocate_array<Thread>(count);
  dump->traces = arena_.allocate_array<JVMPI_CallTrace>(count);
  bool fine = threads_ != nullptr && dump->traces != nullptr;
  for (jint i = 0; i < count; i++) {
    Local<jthread> each(jni_, threads[i]);
    JNIEnv* env = bridge_.threads.env_of(jni_, each);
    if (!fine || env == nullptr) continue;
    JVMPI_CallTrace& trace = dump->traces[dump->num_traces++];
    trace = {env, 0, arena_.allocate_array<JVMPI_CallFrame>(kDepth)};
    fine = trace.frames != nullptr;
    if (fine) bridge_.get_call_trace(&trace, kDepth);
    threads_[thread_count_++] = {number_of_id(bridge_.objects.id(jni_, each)), env, trace.num_frames};
  }
  return fine;
}

bool HeapDump::take_heap(JVMPI_HeapDump* dump) {
  constexpr uint64_t kFirst = 1u << 16, kMost = 1u << 30;
  dump->dump_level = level_;
  bridge_.objects.tell_prepared_classes(jni_);
  if (!seen_.open(vm_.services, kFirst, kMost) || !classes_.take(jni_)) return false;
  if (level_ != JVMPI_DUMP_LEVEL_0 && !take_threads(dump)) return false;
  if (!walk(nullptr)) return false;
  roots_.put(records_.begin(), records_.size());
  dump->begin = roots_.begin();
  dump->end = roots_.end();
  return !roots_.failed();
}

bool HeapDump::take_object(jobject object, jint* size, char** bytes) {
  constexpr uint64_t kFew = 16;
  const uint64_t number = number_of_id(bridge_.objects.id(jni_, object));
  Local<jclass> cls(jni_, jni_->GetObjectClass(object));
  const uint64_t of = bridge_.classes.number(jni_, cls);
  const bool is_class = bridge_.classes.info(number) != nullptr;
  if (!seen_.open(vm_.services, kFew, kFew) || !classes_.take_of(jni_, cls) ||
      (is_class && !classes_.take_of(jni_, static_cast<jclass>(object))) || classes_.find(of) == nullptr)
    return false;
  const bool is_array = classes_.find(of)->kind != JVMPI_NORMAL_OBJECT;
  const jint length = is_array ? jni_->GetArrayLength(static_cast<jarray>(object)) : 0;
  if (!add_record(number, of, length)) return false;
  is_one_object_ = true;
  if (!walk(object)) return false;
  *size = static_cast<jint>(records_.size());
  *bytes = records_.begin();
  return true;
}

}  // namespace hprof::jvmpi
