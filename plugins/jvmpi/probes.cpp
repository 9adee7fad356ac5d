// Calls and allocations by probes.
#include "plugins/jvmpi/probes.h"

#include <hprof/cpp/text.hpp>

#include "plugins/jvmpi/bridge.h"

namespace hprof::jvmpi {

bool Probes::ask(uint32_t probes, char* error, uint32_t error_size) {
  if (probes == 0) return true;
  constexpr uint64_t kFirst = 16384, kMost = 1u << 22;
  const Services& services = bridge_.vm.services;
  TextBuffer why(error, error_size);
  hprof_probe_user user = {};
  user.size = sizeof(user);
  user.probes = probes;
  user.self = this;
  user.call_begins = [](void* self, void* jni, hprof_method_id method) {
    return static_cast<Probes*>(self)->begin(static_cast<JNIEnv*>(jni), method);
  };
  user.call_ends = [](void* self, void* jni, uint64_t call, uint32_t) {
    static_cast<Probes*>(self)->end(static_cast<JNIEnv*>(jni), call);
  };
  user.allocated = [](void* self, void* jni, void* object, uint64_t) {
    static_cast<Probes*>(self)->allocated(static_cast<JNIEnv*>(jni), static_cast<jobject>(object));
  };
  const hprof_status status =
      services.bytecode != nullptr ? services.bytecode->ask(services.host, &user) : HPROF_UNSUPPORTED;
  if (status != HPROF_OK) {
    why.add(status == HPROF_FAILED
                ? "another collector has the probes that jvmpi= is to use: cpu=times or heap=sites"
                : "this VM or build has no probes: use jvmpi-methods=events, jvmpi-allocs=y");
    return false;
  }
  asked_ = probes;
  return methods_.open(services, kFirst, kMost);
}

hprof_status Probes::start() {
  const Services& services = bridge_.vm.services;
  return asked_ != 0 ? services.bytecode->go(services.host, asked_) : hprof_status{HPROF_OK};
}

void Probes::stop() {
  const Services& services = bridge_.vm.services;
  if (asked_ != 0) services.bytecode->halt(services.host, asked_);
}

// By the stack, at a method's first call. Null: no memory, or the VM does not say.
Probes::Method* Probes::method_of(uint32_t number) {
  constexpr jint kAccStatic = 0x0008;
  Method* method = methods_.make(number);
  if (method == nullptr || method->id.load(std::memory_order_acquire) != nullptr) return method;
  jmethodID id = nullptr;
  jlocation location = 0;
  jint modifiers = 0;
  jvmtiEnv* jvmti = bridge_.vm.jvmti;
  if (jvmti->GetFrameLocation(nullptr, HPROF_CALL_FRAMES, &id, &location) != JVMTI_ERROR_NONE ||
      jvmti->GetMethodModifiers(id, &modifiers) != JVMTI_ERROR_NONE)
    return nullptr;
  method->is_static.store((modifiers & kAccStatic) != 0, std::memory_order_relaxed);
  method->id.store(id, std::memory_order_release);
  return method;
}

bool Probes::push(ThreadEntry* self, jmethodID method) {
  if (self->call_depth == self->call_room) {
    constexpr uint32_t kFirstRoom = 256;
    const uint32_t room = self->call_room == 0 ? kFirstRoom : self->call_room * 2;
    const Services& services = bridge_.vm.services;
    auto* more = services.allocate<jmethodID>(room);
    if (more == nullptr) return false;
    for (uint32_t i = 0; i < self->call_depth; i++) more[i] = self->calls[i];
    services.release(self->calls, self->call_room);
    self->calls = more;
    self->call_room = room;
  }
  self->calls[self->call_depth++] = method;
  return true;
}

uint64_t Probes::begin(JNIEnv* jni, uint32_t number) {
  Bridge& b = bridge_;
  if (!b.is_live() ||
      !b.notifier.is_any_on({JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT}))
    return 0;
  ThreadEntry* self = b.threads.current(jni);
  const Method* method = self != nullptr ? method_of(number) : nullptr;
  jmethodID id = method != nullptr ? method->id.load(std::memory_order_relaxed) : nullptr;
  if (id == nullptr || !push(self, id)) return 0;
  const uint64_t call = self->call_depth;
  b.method(jni, id, true, method->is_static.load(std::memory_order_relaxed) ? -1 : HPROF_CALL_FRAMES);
  return call;
}

void Probes::end(JNIEnv* jni, uint64_t call) {
  ThreadEntry* self = bridge_.threads.entry(jni, false);
  while (self != nullptr && self->call_depth >= call)
    bridge_.method(jni, self->calls[--self->call_depth], false, 0);
}

void Probes::allocated(JNIEnv* jni, jobject object) {
  Bridge& b = bridge_;
  if (!b.is_live() || !b.notifier.is_on(JVMPI_EVENT_OBJECT_ALLOC)) return;
  jlong size = 0;
  if (b.vm.jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE) return;
  b.threads.tell_current(jni);
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  b.objects.allocated(jni, object, cls, size);
}

}  // namespace hprof::jvmpi
