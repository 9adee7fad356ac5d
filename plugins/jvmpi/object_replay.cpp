// Sends OBJECT_ALLOC for objects that exist already: all when the VM is initialised, one by request. Built
// for size.
#include "heap.h"
#include "objects.h"

namespace hprof::jvmpi {

Objects::Telling* Objects::begin_telling(JNIEnv* jni, uint64_t number) {
  for (Telling& telling : tellings_) {
    uint64_t none = 0;
    if (!telling.number.compare_exchange_strong(none, number, std::memory_order_acq_rel)) continue;
    telling.teller.store(jni, std::memory_order_release);
    tellings_begun_.fetch_add(1, std::memory_order_acq_rel);
    return &telling;
  }
  return nullptr;
}

void Objects::end_telling(Telling* telling) {
  if (telling == nullptr) return;
  telling->teller.store(nullptr, std::memory_order_relaxed);
  telling->number.store(0, std::memory_order_release);
  tellings_begun_.fetch_sub(1, std::memory_order_acq_rel);
}

bool Objects::is_being_told(JNIEnv* jni, uint64_t number) const {
  for (const Telling& telling : tellings_) {
    const uint64_t sent = telling.number.load(std::memory_order_acquire);
    if ((sent == number || sent == kAll) && telling.teller.load(std::memory_order_acquire) != jni)
      return true;
  }
  return false;
}

// Waits while the thread that reports all objects makes progress; for one object, a second.
void Objects::wait_until_told(JNIEnv* jni, uint64_t number) const {
  constexpr int kTries = 10'000;
  constexpr uint64_t kPauseNs = 100'000;
  uint64_t before = 0;
  for (int i = 0; i < kTries && is_being_told(jni, number); i++) {
    const uint64_t now = replayed_.load(std::memory_order_relaxed);
    if (now != before) i = 0;
    before = now;
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  }
}

bool Objects::tell_again(JNIEnv* jni, jobjectID id) {
  constexpr jint kType = JVMPI_EVENT_OBJECT_ALLOC | JVMPI_REQUESTED_EVENT;
  constexpr jlong kUnit = 8;
  ObjectFact fact;
  if (facts_.find(number_of_id(id), &fact) && classes_.info(fact.cls) != nullptr) {
    facts_.mark_told(number_of_id(id));
    send(jni, kType, number_of_id(id), fact.cls, kUnit * fact.units);
    return true;
  }
  Local<jobject> object(jni, find(jni, id));
  jlong tag = 0, size = 0;
  if (object == nullptr || vm_.jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE || tag == 0 ||
      vm_.jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE)
    return false;
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  ids_.mark_told(object);
  send(jni, kType, number_of_tag(tag), classes_.number(jni, cls), size);
  return true;
}

void Objects::tell_prepared_classes(JNIEnv* jni) {
  const LocalFrame locals(jni, LocalFrame::kMost);
  if (!locals.is_open()) return;
  FromVm<jclass> classes(vm_);
  jint count = 0;
  if (vm_.jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; i++) {
    jint status = 0;
    // Other classes are reported by ClassPrepare; arrays, whose numbers the replay needs, are not.
    if (vm_.jvmti->GetClassStatus(classes[i], &status) == JVMTI_ERROR_NONE) {
      classes_.number(jni, classes[i]);
      if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) tell_class(jni, classes[i]);
    }
    jni->DeleteLocalRef(classes[i]);
  }
}

void Objects::replay(JNIEnv* jni) {
  tell_prepared_classes(jni);
  if (!notifier_.is_on(JVMPI_EVENT_OBJECT_ALLOC)) return;
  HeapList heap(vm_, &ids_);
  // Objects from the CDS archive whose class is not linked yet are left out; they are reported when an event
  // names them.
  auto wants = [](void* self, uint64_t cls) {
    const auto& objects = *static_cast<Objects*>(self);
    const ClassInfo* info = objects.classes_.info(cls);
    return info != nullptr && (info->kind != JVMPI_NORMAL_OBJECT || objects.classes_.is_told(cls) ||
                               !objects.notifier_.is_on(JVMPI_EVENT_CLASS_LOAD));
  };
  Telling* telling = begin_telling(jni, kAll);
  if (!heap.take(kTold, wants, this)) {
    end_telling(telling);
    vm_.services.log->message(vm_.services.host, "jvmpi: no memory to tell of the objects that are there");
    return;
  }
  heap.each([&](const HeapObject& object) {
    const ClassInfo* info = classes_.info(object.cls);
    if (info == nullptr || object.was_told || object.number == object.cls) return;
    JVMPI_Event event = {};
    JVMPI_ObjectAlloc& alloc = event.u.obj_alloc;
    alloc = {1, nullptr, info->kind, static_cast<jint>(object.size), id_of_number(object.number)};
    if (info->kind == JVMPI_NORMAL_OBJECT) alloc.class_id = info->load.class_id;
    notifier_.send(&event, JVMPI_EVENT_OBJECT_ALLOC, jni);
    replayed_.fetch_add(1, std::memory_order_relaxed);
  });
  end_telling(telling);
}

}  // namespace hprof::jvmpi
