// A scripted VM for the collector's tests: the jvm and sampling services, AsyncGetCallTrace, and the few
// JVMTI and JNI functions that the engines call. One at a time.
#pragma once

#include <functional>
#include <jvmti.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hprof/draft/code.h>
#include <hprof/draft/sampling.h>
#include <hprof/draft/vm_flags.h>
#include <hprof/service/jvm.h>

#include "plugins/cpu_samples/signal_engine.h"
#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

struct hprof_cpu_timer {
  uint64_t os_id;
  uint64_t interval_ns;
  void* argument;
};

namespace hprof {

class FakeVm {
 public:
  FakeVm();
  ~FakeVm();

  MockHost mock;
  bool has_async_get_call_trace = true;
  bool precise_code = false;   // asked for
  bool attached = true;        // the calling thread has a JNIEnv
  bool walk_faults = false;    // guarded calls end in a fault
  int walk_faults_after = -1;  // only guarded calls after so many
  bool timers_fail = false;
  bool knows_its_signals = true;           // the handler gets those that the agent sends itself
  intptr_t most_frames = 1024;             // -XX:MaxJavaStackTraceDepth
  const char* flight_recording = nullptr;  // -XX:StartFlightRecording
  std::function<void()> on_timer;          // before a timer is made: what other threads do meanwhile
  std::vector<samples::AsyncFrame> stack;  // what AsyncGetCallTrace finds ...
  int32_t walk_code = 0;                   // ... or, with an empty stack, answers
  hprof_registers registers = {};          // of the interrupted code
  bool knows_registers = false;
  std::map<uint64_t, std::vector<samples::AsyncFrame>> stacks_by_pc;  // found there instead
  struct Code {
    uint64_t end;
    void* method;
  };
  std::map<uint64_t, Code> compiled;                            // by start address
  std::map<uint64_t, std::unique_ptr<hprof_cpu_timer>> timers;  // running, by os id
  std::set<uint64_t> blocked;                                   // os ids of threads that block the signal
  bool installed = false;
  // A tick of a thread's timer; false: it has none. late: the handle of a timer that was stopped meanwhile.
  bool tick(uint64_t os_id, uint32_t ticks = 1);
  void tick_late(void* handle, uint32_t ticks = 1);

  // JVMTI: the stack and the state of a thread, by jthread.
  struct JavaThread {
    std::vector<jvmtiFrameInfo> stack;
    jint state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE;
    uint64_t spins_os_id = 0;  // its CPU clock moves whenever its state is read
  };
  std::map<void*, JavaThread> java_threads;
  uint32_t list_calls = 0, single_calls = 0, local_refs = 0, weak_refs = 0, frames_pushed = 0;
  std::set<void*> ending;          // threads that have no stack any more, which is no error
  void* current_thread = nullptr;  // the calling one's jthread
  bool has_jvmti = true;
  void* jni() { return attached ? &jni_env_ : nullptr; }
  // One look of the jvmti engine after `ns`: the body of its agent thread runs for one wait.
  void look(uint64_t ns, size_t thread_index = 0);

  // A method that the ids service knows.
  void* method(const std::string& owner, const std::string& name);
  // The collector, made with these option values; destroyed with the VM.
  void create(const std::map<std::string, std::string>& options = {});
  const hprof_collector_ops* ops = nullptr;
  void* self = nullptr;
  hprof_thread* start_thread(hprof_thread_serial serial, uint64_t os_id, uint32_t flags = 0);
  void report(double cutoff = 0);
  void destroy();

  // Of the last report: "method" -> samples of its innermost frame, and all the notes.
  const hprof_rec_table* table() const;  // of the last report
  std::map<std::string, uint64_t> rows() const;
  uint64_t total() const;
  std::string notes() const;

  static FakeVm* current;

 private:
  JNIEnv_ jni_env_;
  _jvmtiEnv jvmti_env_;
  JNINativeInterface_ jni_functions_;
  jvmtiInterface_1_ jvmti_functions_;
  std::vector<std::unique_ptr<char>> methods_;
  std::unique_ptr<MockConfig> config_;
  friend struct FakeServices;
};

}  // namespace hprof
