#include "threads.h"

namespace hprof::jvmpi {

void ObjectPins::keep(JNIEnv* jni, jobject object, uint64_t number) {
  jobject made = vm_.new_global(jni, object);
  {
    LockGuard guard(lock_, vm_.services);
    jobject* pin = pins_.is_open() || pins_.open(vm_.services) ? pins_.make(number) : nullptr;
    if (pin != nullptr && *pin == nullptr) {
      *pin = made;
      made = nullptr;
    }
  }
  if (made != nullptr) vm_.delete_global(jni, made);
}

// A thread that the VM does not know leaves the objects to the next release.
void ObjectPins::release() {
  uint32_t holds = holds_.load(std::memory_order_relaxed);
  while (holds != 0 && !holds_.compare_exchange_weak(holds, holds - 1, std::memory_order_acq_rel)) {
  }
  JNIEnv* jni = vm_.jni();
  if (holds != 1 || jni == nullptr) return;
  Pages<jobject> old;
  {
    LockGuard guard(lock_, vm_.services);
    old = pins_;
    pins_ = {};
  }
  old.each([&](jobject pin) {
    if (pin != nullptr) vm_.delete_global(jni, pin);
  });
  old.close();
}

jobjectID Objects::id(JNIEnv* jni, jobject object) {
  if (object == nullptr) return nullptr;
  const jlong tag = ids_.tag(object);
  pins.add(jni, object, number_of_tag(tag));
  if (tag != 0 && notifier_.is_on(JVMPI_EVENT_OBJECT_ALLOC)) {
    if ((tag & kTold) == 0 && !facts_.is_told(number_of_tag(tag))) {
      tell(jni, object, tag);
    } else if (tellings_begun_.load(std::memory_order_acquire) != 0) {
      wait_until_told(jni, number_of_tag(tag));
    }
  }
  return id_of_number(number_of_tag(tag));
}

// The class of java.lang.Class's own object is left out: it would lead agents into a loop.
void Objects::send(JNIEnv* jni, jint type, uint64_t number, uint64_t of, jlong size) {
  const ClassInfo* info = classes_.info(of);
  JVMPI_Event event = {};
  JVMPI_ObjectAlloc& alloc = event.u.obj_alloc;
  alloc.arena_id = 1;
  alloc.is_array = info != nullptr ? info->kind : jint{JVMPI_NORMAL_OBJECT};
  alloc.obj_id = id_of_number(number);
  if (alloc.is_array == JVMPI_NORMAL_OBJECT && of != number) alloc.class_id = id_of_number(of);
  alloc.size = static_cast<jint>(size);
  notifier_.send(&event, type, jni);
}

void Objects::tell(JNIEnv* jni, jobject object, jlong tag) {
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  const bool is_own_class = jni->IsSameObject(object, cls) == JNI_TRUE;
  if (!is_own_class) tell_class(jni, cls);
  Telling* telling = begin_telling(jni, number_of_tag(tag));
  jlong size = 0;
  const bool fresh = ids_.mark_told(object);
  if (fresh && vm_.jvmti->GetObjectSize(object, &size) == JVMTI_ERROR_NONE)
    send(jni, JVMPI_EVENT_OBJECT_ALLOC, number_of_tag(tag), classes_.number(jni, cls), size);
  end_telling(telling);
  if (!fresh) wait_until_told(jni, number_of_tag(tag));
}

void Objects::allocated(JNIEnv* jni, jobject object, jclass cls, jlong size) {
  jlong tag = 0;
  // A class object, or an object that another event has named meanwhile.
  if (vm_.jvmti->GetTag(object, &tag) == JVMTI_ERROR_NONE && tag != 0)
    return static_cast<void>(id(jni, object));
  const uint64_t of = tell_class(jni, cls);
  tag = ids_.tag_new(object, kTold);
  if (tag != 0) send(jni, JVMPI_EVENT_OBJECT_ALLOC, number_of_tag(tag), of, size);
}

void Objects::allocated_again(JNIEnv* jni, jobject object, const AllocatedClass& of, jlong size) {
  const jlong tag = ids_.tag_new(object, kTold);
  if (tag == 0) return;
  JVMPI_Event event;
  event.u.obj_alloc = {1, nullptr, of.kind, static_cast<jint>(size), id_of_number(number_of_tag(tag))};
  if (of.kind == JVMPI_NORMAL_OBJECT) event.u.obj_alloc.class_id = id_of_number(of.number);
  notifier_.send(&event, JVMPI_EVENT_OBJECT_ALLOC, jni);
}

bool Objects::describe(JNIEnv* jni, jclass cls, jlong size, uint32_t reference_shift, AllocatedClass* to) {
  constexpr uint32_t kShifts[] = {0, 1, 2, 3, 0, 1, 2, 3};  // from JVMPI_BOOLEAN on
  to->number = classes_.number(jni, cls);
  const ClassInfo* info = classes_.info(to->number);
  if (info == nullptr || (notifier_.is_on(JVMPI_EVENT_CLASS_LOAD) && info->kind == JVMPI_NORMAL_OBJECT &&
                          !classes_.is_told(to->number)))
    return false;
  to->kind = info->kind;
  to->size = info->kind == JVMPI_NORMAL_OBJECT ? static_cast<uint32_t>(size)
             : info->kind == JVMPI_CLASS       ? reference_shift
                                               : kShifts[(info->kind - JVMPI_BOOLEAN) & 7];
  return true;
}

uint64_t Objects::tell_class(JNIEnv* jni, jclass cls) {
  if (!notifier_.is_any_on({JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_OBJECT_ALLOC})) return 0;
  jlong tag = 0;
  const uint64_t number = classes_.number(jni, cls, &tag);
  // An id is told at once, unless the thread that tells it is not done.
  const bool is_known = (tag & kTold) != 0 && tellings_begun_.load(std::memory_order_acquire) == 0;
  if (notifier_.is_on(JVMPI_EVENT_OBJECT_ALLOC) && !is_known) id(jni, cls);
  if (notifier_.is_on(JVMPI_EVENT_CLASS_LOAD) && !classes_.is_told(number)) {
    const ClassInfo* info = classes_.info(number);
    if (info != nullptr && info->kind == JVMPI_NORMAL_OBJECT) classes_.tell(jni, cls);
  }
  return number;
}

void Objects::tell_class_of(JNIEnv* jni, jmethodID method) {
  if (!notifier_.is_on(JVMPI_EVENT_CLASS_LOAD) || classes_.is_told_of(method)) return;
  Local<jclass> cls(jni, nullptr);
  if (vm_.jvmti->GetMethodDeclaringClass(method, &cls) == JVMTI_ERROR_NONE) tell_class(jni, cls);
}

jobject Objects::find(JNIEnv* jni, jobjectID id) {
  const uint64_t number = number_of_id(id);
  if (classes_.info(number) != nullptr) return classes_.find(jni, number);
  return finder_.find(jni, id);
}

}  // namespace hprof::jvmpi
