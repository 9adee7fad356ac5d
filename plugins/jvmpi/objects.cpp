// OBJECT_ALLOC.
#include "plugins/jvmpi/objects.h"

#include "plugins/jvmpi/heap.h"

namespace hprof::jvmpi {

jobjectID Objects::id(JNIEnv* jni, jobject object) {
  if (object == nullptr) return nullptr;
  const jlong tag = ids_.tag(object);
  if (tag != 0 && (tag & kTold) == 0 && notifier_.is_on(JVMPI_EVENT_OBJECT_ALLOC)) tell(jni, object, tag);
  return id_of_number(number_of_tag(tag));
}

// The class of java.lang.Class's own object is left out: it would lead an agent into a loop.
void Objects::send(JNIEnv* jni, jint type, jlong tag, jclass cls, jlong size) {
  const uint64_t of = classes_.number(jni, cls);
  const ClassInfo* info = classes_.info(of);
  JVMPI_Event event = {};
  JVMPI_ObjectAlloc& alloc = event.u.obj_alloc;
  alloc.arena_id = 1;
  alloc.is_array = info != nullptr ? info->kind : jint{JVMPI_NORMAL_OBJECT};
  alloc.obj_id = id_of_number(number_of_tag(tag));
  if (alloc.is_array == JVMPI_NORMAL_OBJECT && of != number_of_tag(tag)) alloc.class_id = id_of_number(of);
  alloc.size = static_cast<jint>(size);
  notifier_.send(&event, type, jni);
}

void Objects::tell(JNIEnv* jni, jobject object, jlong tag) {
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  const bool is_own_class = jni->IsSameObject(object, cls) == JNI_TRUE;
  if (!is_own_class) tell_class(jni, cls);
  jlong size = 0;
  if (!ids_.mark_told(object) || vm_.jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE) return;
  send(jni, JVMPI_EVENT_OBJECT_ALLOC, tag, cls, size);
}

void Objects::allocated(JNIEnv* jni, jobject object, jclass cls, jlong size) {
  jlong tag = 0;
  // A class object, or one that another event has named meanwhile.
  if (vm_.jvmti->GetTag(object, &tag) == JVMTI_ERROR_NONE && tag != 0)
    return static_cast<void>(id(jni, object));
  tell_class(jni, cls);
  tag = ids_.tag_new(object, kTold);
  if (tag != 0) send(jni, JVMPI_EVENT_OBJECT_ALLOC, tag, cls, size);
}

void Objects::tell_class(JNIEnv* jni, jclass cls) {
  if (notifier_.is_on(JVMPI_EVENT_CLASS_LOAD) || notifier_.is_on(JVMPI_EVENT_OBJECT_ALLOC)) {
    const uint64_t number = classes_.number(jni, cls);
    id(jni, cls);
    if (!classes_.is_told(number)) classes_.tell(jni, cls);
  }
}

void Objects::tell_class_of(JNIEnv* jni, jmethodID method) {
  if (!notifier_.is_on(JVMPI_EVENT_CLASS_LOAD) || classes_.is_told_of(method)) return;
  Local<jclass> cls(jni, nullptr);
  if (vm_.jvmti->GetMethodDeclaringClass(method, &cls) == JVMTI_ERROR_NONE) tell_class(jni, cls);
}

jobject Objects::find(JNIEnv* jni, jobjectID id) const {
  const uint64_t number = number_of_id(id);
  if (classes_.info(number) != nullptr) return classes_.find(jni, number);
  return ids_.find(jni, id);
}

bool Objects::tell_again(JNIEnv* jni, jobjectID id) {
  Local<jobject> object(jni, find(jni, id));
  jlong tag = 0, size = 0;
  if (object == nullptr || vm_.jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE || tag == 0 ||
      vm_.jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE)
    return false;
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  ids_.mark_told(object);
  send(jni, JVMPI_EVENT_OBJECT_ALLOC | JVMPI_REQUESTED_EVENT, tag, cls, size);
  return true;
}

// --- what is there when the VM is initialised

void Objects::tell_prepared_classes(JNIEnv* jni) {
  const LocalFrame locals(jni, LocalFrame::kMost);
  if (!locals.is_open()) return;
  FromVm<jclass> classes(vm_);
  jint count = 0;
  if (vm_.jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; i++) {
    jint status = 0;
    // Other classes are reported when they are prepared; arrays, whose numbers the replay of objects needs,
    // are not.
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
  // Left out: objects from the VM's archive whose class is not linked yet; they are reported when an event
  // names them.
  auto wants = [](void* self, uint64_t cls) {
    const auto& objects = *static_cast<Objects*>(self);
    const ClassInfo* info = objects.classes_.info(cls);
    return info != nullptr && (info->kind != JVMPI_NORMAL_OBJECT || objects.classes_.is_told(cls) ||
                               !objects.notifier_.is_on(JVMPI_EVENT_CLASS_LOAD));
  };
  if (!heap.take(kTold, wants, this)) {
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
  });
}

}  // namespace hprof::jvmpi
