// The control thread: what must not be done inside a callback is asked for here.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "platform/platform.h"

namespace hprof {

class Session;

class Control {
 public:
  // Starts the thread (an agent thread: it may use JNI). [control]
  bool start(Session* session, JNIEnv* jni);
  // Asks for a report; requests that come while one is written make one more. Never waits. [any] but [signal]
  void request(uint32_t reason);
  // Ends the thread; false: it is still busy at the deadline. [control]
  bool stop(int64_t deadline_ns);
  // Serialises what runs on control threads: reports, start, stop. False: not free until the deadline.
  // [control]
  bool acquire(int64_t deadline_ns);
  void release() { busy_.unlock(); }

 private:
  static void JNICALL run(jvmtiEnv* jvmti, JNIEnv* jni, void* self);
  void work(JNIEnv* jni);

  Session* session_ = nullptr;
  platform::Event wake_;
  platform::Mutex busy_;
  std::atomic<uint32_t> requested_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> running_{false};
};

// Makes a daemon Java thread in the system thread group and runs body on it (RunAgentThread). [control]
bool run_agent_thread(Session* session, JNIEnv* jni, const char* name, jvmtiStartFunction body,
                      void* argument);

}  // namespace hprof
