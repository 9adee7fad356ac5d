// What a test has happen in the VM: the callbacks of its events.
#include "tests/unit/support/fake_vm.h"

namespace hprof {

constexpr int kFirstEvent = JVMTI_MIN_EVENT_TYPE_VAL;

template <class F>
F* FakeVm::callback(jvmtiEvent event) const {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  return is_enabled(event) ? reinterpret_cast<F*>(callbacks_[event - kFirstEvent]) : nullptr;
}

void FakeVm::post_vm_start() {
  if (auto* call = callback<void(jvmtiEnv*, JNIEnv*)>(JVMTI_EVENT_VM_START)) call(&jvmti_, &jni_);
}

void FakeVm::post_vm_init(Thread& thread) {
  on(thread, [&] {
    if (auto* call = callback<void(jvmtiEnv*, JNIEnv*, jthread)>(JVMTI_EVENT_VM_INIT))
      call(&jvmti_, &jni_, thread.ref());
  });
}

void FakeVm::post_vm_death() {
  if (auto* call = callback<void(jvmtiEnv*, JNIEnv*)>(JVMTI_EVENT_VM_DEATH)) call(&jvmti_, &jni_);
}

void FakeVm::post_data_dump_request() {
  if (auto* call = callback<void(jvmtiEnv*)>(JVMTI_EVENT_DATA_DUMP_REQUEST)) call(&jvmti_);
}

void FakeVm::post_thread_start(Thread& thread) {
  const auto event = thread.is_virtual ? static_cast<jvmtiEvent>(87) : JVMTI_EVENT_THREAD_START;
  on(thread, [&] {
    if (auto* call = callback<void(jvmtiEnv*, JNIEnv*, jthread)>(event)) call(&jvmti_, &jni_, thread.ref());
  });
}

void FakeVm::post_thread_end(Thread& thread) {
  const auto event = thread.is_virtual ? static_cast<jvmtiEvent>(88) : JVMTI_EVENT_THREAD_END;
  on(thread, [&] {
    if (auto* call = callback<void(jvmtiEnv*, JNIEnv*, jthread)>(event)) call(&jvmti_, &jni_, thread.ref());
  });
}

void FakeVm::post_gc(bool start) {
  const jvmtiEvent event =
      start ? JVMTI_EVENT_GARBAGE_COLLECTION_START : JVMTI_EVENT_GARBAGE_COLLECTION_FINISH;
  if (auto* call = callback<void(jvmtiEnv*)>(event)) call(&jvmti_);
}

void FakeVm::post_monitor_wait(Thread& thread, jlong timeout) {
  on(thread, [&] {
    if (auto* call = callback<void(jvmtiEnv*, JNIEnv*, jthread, jobject, jlong)>(JVMTI_EVENT_MONITOR_WAIT))
      call(&jvmti_, &jni_, thread.ref(), object("monitor")->ref(), timeout);
  });
}

void FakeVm::post_monitor_waited(Thread& thread, bool timed_out) {
  on(thread, [&] {
    if (auto* call =
            callback<void(jvmtiEnv*, JNIEnv*, jthread, jobject, jboolean)>(JVMTI_EVENT_MONITOR_WAITED))
      call(&jvmti_, &jni_, thread.ref(), object("monitor")->ref(), timed_out ? JNI_TRUE : JNI_FALSE);
  });
}

std::unique_ptr<std::string> FakeVm::post_class_file(const std::string& name, const std::string& bytes) {
  using Hook = void(jvmtiEnv*, JNIEnv*, jclass, jobject, const char*, jobject, jint, const unsigned char*,
                    jint*, unsigned char**);
  auto* call = callback<Hook>(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
  if (call == nullptr) return nullptr;
  jint new_size = 0;
  unsigned char* new_bytes = nullptr;
  call(&jvmti_, &jni_, nullptr, nullptr, name.c_str(), nullptr, static_cast<jint>(bytes.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), &new_size, &new_bytes);
  if (new_bytes == nullptr) return nullptr;
  auto result =
      std::make_unique<std::string>(reinterpret_cast<char*>(new_bytes), static_cast<size_t>(new_size));
  jvmti_functions_.Deallocate(&jvmti_, new_bytes);
  return result;
}

}  // namespace hprof
