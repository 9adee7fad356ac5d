#include "core/agent/control.h"

#include <initializer_list>

#include <hprof/collector.h>

#include "core/agent/session.h"

namespace hprof {

namespace {

constexpr int64_t kHousekeepingNs = platform::kNanosPerSecond;

}  // namespace

bool run_agent_thread(Session* session, JNIEnv* jni, const char* name, jvmtiStartFunction body,
                      void* argument) {
  jvmtiEnv* jvmti = session->jvmti();
  jint count = 0;
  jthreadGroup* groups = nullptr;
  jthreadGroup system = nullptr;
  if (jvmti->GetTopThreadGroups(&count, &groups) == JVMTI_ERROR_NONE) {
    if (count != 0) system = groups[0];
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(groups));
  }
  jclass thread_class = jni->FindClass("java/lang/Thread");
  jmethodID constructor =
      thread_class != nullptr
          ? jni->GetMethodID(thread_class, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V")
          : nullptr;
  jstring text = constructor != nullptr ? jni->NewStringUTF(name) : nullptr;
  jobject thread = text != nullptr ? jni->NewObject(thread_class, constructor, system, text) : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  bool started = false;
  if (thread != nullptr) {
    session->threads().expect_agent(jni, thread);
    started = jvmti->RunAgentThread(thread, body, argument, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
    if (!started) session->threads().take_expected(jni, thread);
  }
  for (jobject local : {static_cast<jobject>(system), static_cast<jobject>(thread_class),
                        static_cast<jobject>(text), thread}) {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  return started;
}

bool Control::start(Session* session, JNIEnv* jni) {
  session_ = session;
  running_.store(true, std::memory_order_release);
  if (run_agent_thread(session, jni, "HPROF control", &Control::run, this)) return true;
  running_.store(false, std::memory_order_release);
  return false;
}

void Control::request(uint32_t reason) {
  requested_.store(reason, std::memory_order_release);
  wake_.signal();
}

void JNICALL Control::run(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto* control = static_cast<Control*>(self);
  control->work(jni);
  control->running_.store(false, std::memory_order_release);
}

void Control::work(JNIEnv* jni) {
  while (!stopping_.load(std::memory_order_acquire)) {
    wake_.wait(platform::monotonic_ns() + kHousekeepingNs);
    session_->classes().sweep(jni);
    uint32_t reason = requested_.exchange(0, std::memory_order_acq_rel);
    if (reason == 0 || !acquire(platform::kNoDeadline)) continue;
    if (!stopping_.load(std::memory_order_acquire)) {
      session_->report({sizeof(hprof_report), reason, session_->setup().core().cutoff, 0, 0});
    }
    release();
  }
}

bool Control::acquire(int64_t deadline_ns) {
  while (!busy_.try_lock()) {
    if (platform::monotonic_ns() > deadline_ns) return false;
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  return true;
}

bool Control::stop(int64_t deadline_ns) {
  stopping_.store(true, std::memory_order_release);
  wake_.signal();
  while (running_.load(std::memory_order_acquire)) {
    if (platform::monotonic_ns() > deadline_ns) return false;
    platform::sleep_ns(platform::kNanosPerMilli / 2);
  }
  return true;
}

}  // namespace hprof
