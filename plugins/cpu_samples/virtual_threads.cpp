#include "virtual_threads.h"

#include <cstring>

#include <hprof/collector.h>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::samples {

static constexpr uint32_t kFirstWithVirtualThreads = 21;
static constexpr jint kReferences = 16;

void VirtualThreads::open(const Services& services) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  if (!takes_events(services.host) || services.settings().java_version < kFirstWithVirtualThreads ||
      jni == nullptr || jvmti_ == nullptr || !HPROF_HAS(services.ids, hprof_ids_service, virtual_thread))
    return;
  const LocalFrame frame(jni, kReferences);
  jclass type = frame.is_open() ? without_exception(jni, jni->FindClass("java/lang/Thread")) : nullptr;
  thread_id_ = type != nullptr ? without_exception(jni, jni->GetMethodID(type, "threadId", "()J")) : nullptr;
  if (thread_id_ != nullptr) services_ = &services;
}

void VirtualThreads::close() {
  mounted_.close();
  has_mounted_ = false;
  services_ = nullptr;
}

// The core forgets threads that ended.
bool VirtualThreads::is_known(const Known& known, uint64_t java_id) const {
  return known.serial != 0 && known.java_id == java_id &&
         find_thread(services_->ids, services_->host, known.serial)->java_id == java_id;
}

uint64_t VirtualThreads::id_of(JNIEnv* jni, jthread thread) const {
  const jlong id = jni->CallLongMethodA(thread, thread_id_, nullptr);
  clear_exception(jni);
  return id > 0 ? static_cast<uint64_t>(id) : 0;
}

hprof_thread_serial VirtualThreads::add(uint64_t java_id, hprof_text name, bool has_name) {
  const hprof_thread_serial serial = services_->ids->virtual_thread(services_->host, java_id, name);
  known_as(java_id) = {java_id, serial, has_name};
  return serial;
}

hprof_thread_serial VirtualThreads::add_named(uint64_t java_id, jthread thread) {
  jvmtiThreadInfo info;
  std::memset(&info, 0, sizeof info);
  if (jvmti_->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) std::memset(&info, 0, sizeof info);
  const hprof_text name = {info.name, info.name != nullptr ? std::strlen(info.name) : 0};
  const hprof_thread_serial serial = add(java_id, name, true);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  return serial;
}

hprof_thread_serial VirtualThreads::of(JNIEnv* jni, jthread thread) {
  if (services_ == nullptr || jni == nullptr || thread == nullptr) return 0;
  const LocalFrame frame(jni, kReferences);
  const uint64_t java_id = frame.is_open() ? id_of(jni, thread) : 0;
  if (java_id == 0) return 0;
  const Known& known = known_as(java_id);
  return is_known(known, java_id) && known.has_name ? known.serial : add_named(java_id, thread);
}

jthread VirtualThreads::mounted_on(JNIEnv* jni, hprof_thread_serial carrier) {
  struct Visit {
    JNIEnv* jni;
    hprof_thread_serial serial;
    jthread found;
  } visit{jni, carrier, nullptr};
  services_->threads->each(
      services_->host, jni, &visit, [](void* argument, hprof_thread* thread, void* ref) -> uint32_t {
        auto* to = static_cast<Visit*>(argument);
        if (thread->serial != to->serial) return 1;
        to->found = static_cast<jthread>(to->jni->NewLocalRef(static_cast<jobject>(ref)));
        return 0;
      });
  return visit.found != nullptr ? mounted_.find(visit.found) : nullptr;
}

hprof_thread_serial VirtualThreads::of(JNIEnv* jni, uint64_t java_id, hprof_thread_serial carrier) {
  if (services_ == nullptr || jni == nullptr || java_id == 0) return 0;
  const Known& known = known_as(java_id);
  const bool is_known = this->is_known(known, java_id);
  if (is_known && known.has_name) return known.serial;
  const uint64_t now = services_->clock->monotonic(services_->host);
  if (now >= asked_ns_ + kBetweenNs) {
    asked_ns_ = now;
    if (!has_mounted_) mounted_.open(*services_);
    has_mounted_ = true;
    const LocalFrame frame(jni, kReferences);
    jthread thread = frame.is_open() ? mounted_on(jni, carrier) : nullptr;
    if (thread != nullptr && id_of(jni, thread) == java_id) return add_named(java_id, thread);
  }
  return is_known ? known.serial : add(java_id, {nullptr, 0}, false);
}

}  // namespace hprof::samples
