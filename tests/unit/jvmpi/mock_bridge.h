// A bridge in the mock host: its VM answers little, its probes are the test's. One at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/jvmpi/bridge.h"
#include "tools/mock/mock_host.h"

namespace hprof::jvmpi {

using Lines = std::vector<std::string>;

class MockBridge {
 public:
  MockBridge();
  ~MockBridge();

  // What was done since the last time: "start", "stop", "events on", "events off" (JVMTI's of methods), and
  // what the agent was told: "entry 1", "exit 1".
  Lines take();
  void init() { bridge().vm_init(jni); }
  // A call of that method begins, on the one thread that there is; the stack has it on top.
  jlong begins(int method);
  void ends(jlong call) { ends_(jni, nullptr, 0, call); }

  hprof_status ask_status = HPROF_OK, start_status = HPROF_OK;
  std::function<void()> in_start;  // what happens meanwhile
  bool is_attached = true;         // GetEnv knows the thread

 private:
  static MockBridge* one;
  struct Functions;
  friend struct Functions;
  bool prepare();

  Lines done_;
  jmethodID on_top_ = nullptr;
  jlong(JNICALL* begins_)(JNIEnv*, jclass, jlong, jint) = nullptr;
  void(JNICALL* ends_)(JNIEnv*, jclass, jlong, jlong) = nullptr;
  jvmtiInterface_1_ jvmti_functions_;
  JNIInvokeInterface_ vm_functions_;
  hprof_probes_service probes_;
  jvmtiEnv jvmti_;

 public:
  MockHost host;
  JNIEnv* jni;

 private:
  bool prepared_ = prepare();
  Bridge bridge_{host.host()};

 public:
  Bridge& bridge() { return bridge_; }
};

}  // namespace hprof::jvmpi
