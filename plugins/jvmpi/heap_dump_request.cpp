// HEAP_DUMP and OBJECT_DUMP, each from its request to its result. Built for size.
#include "bridge.h"
#include "heap.h"
#include "heap_dump.h"

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

// The address space to reserve: a record is at most three times as large as its object. In a full heap the VM
// may not tell the heap's size.
bool HeapDump::take_heap(JVMPI_HeapDump* dump) {
  constexpr uint64_t kFirst = 1u << 12, kMost = 1u << 30, kOthers = 256u << 20, kUnknown = uint64_t{1} << 40;
  dump->dump_level = level_;
  bridge_.objects.tell_prepared_classes(jni_);
  const auto heap = static_cast<uint64_t>(heap_sizes(jni_).total);
  if (!text_.open(heap != 0 ? 4 * heap + kOthers : kUnknown)) return fail(Failure::kText);
  const UnitMemory beyond{vm_.services.host, &beyond_};
  if (!marks_.open(vm_.services) || !places_.open(beyond, kFirst, kMost)) return fail(Failure::kText);
  if (!classes_.take(jni_) || (level_ != JVMPI_DUMP_LEVEL_0 && !take_threads(dump)))
    return fail(Failure::kLists);
  if (!walk(nullptr)) return false;
  dump->begin = text_.begin();
  dump->end = text_.end();
  return true;
}

bool HeapDump::take_object(jobject object, jint* size, char** bytes) {
  constexpr uint64_t kFew = 16, kOthers = 1u << 20;
  const uint64_t number = number_of_id(bridge_.objects.id(jni_, object));
  Local<jclass> cls(jni_, jni_->GetObjectClass(object));
  const uint64_t of = bridge_.classes.number(jni_, cls);
  const bool is_class = bridge_.classes.info(number) != nullptr;
  jlong bytes_of_object = 0;
  if (vm_.jvmti->GetObjectSize(object, &bytes_of_object) != JVMTI_ERROR_NONE) return fail(Failure::kVm);
  if (!text_.open(4 * static_cast<uint64_t>(bytes_of_object) + kOthers)) return fail(Failure::kText);
  const UnitMemory beyond{vm_.services.host, &beyond_};
  if (!marks_.open(vm_.services) || !places_.open(beyond, kFew, kFew)) return fail(Failure::kText);
  if (!classes_.take_of(jni_, cls) || (is_class && !classes_.take_of(jni_, static_cast<jclass>(object))) ||
      classes_.find(of) == nullptr)
    return fail(Failure::kLists);
  const bool is_array = classes_.find(of)->kind != JVMPI_NORMAL_OBJECT;
  const jint length = is_array ? jni_->GetArrayLength(static_cast<jarray>(object)) : 0;
  is_one_object_ = true;
  if (!announce(number, of, length) || !walk(object)) return false;
  if (text_.size() > INT32_MAX) return fail(Failure::kSize);
  *size = static_cast<jint>(text_.size());
  *bytes = text_.begin();
  return true;
}

void HeapDump::explain(TextBuffer* to) const {
  constexpr uint64_t kMiB = 1u << 20;
  const uint64_t most = vm_.services.settings().max_memory / kMiB;
  const auto after = [&]() {
    to->add(" after ").add(objects_).add(" objects and ").add(text_.size() / kMiB).add(" MiB of text");
  };
  if (text_.failed() || failure_ == Failure::kText) {
    to->add("there is no more address space than ").add(text_.room() / kMiB).add(" MiB (ulimit -v),");
    return after();
  }
  switch (failure_) {
    case Failure::kVm:
      to->add("the VM refuses to walk its heap");
      return;
    case Failure::kOrder:
      to->add("this VM does not report the references of each object together,");
      return after();
    case Failure::kSize:
      to->add("the object takes more than the 2 GiB that the event can tell of");
      return;
    default:
      break;
  }
  if (most == 0) {
    to->add("no memory");
  } else {
    to->add("max-memory=").add(most).add("m is too little");
  }
  if (failure_ == Failure::kLists) to->add(", or the VM does not list its classes or threads,");
  after();
  if (most != 0) to->add(": set max-memory=").add(2 * most + 1).add("m");
}

}  // namespace hprof::jvmpi
