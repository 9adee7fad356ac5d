// A scripted VM for the monitor collector's tests: threads, objects, and the JVMTI and JNI functions that it
// calls. One at a time.
#pragma once

#include <deque>
#include <jvmti.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hprof/service/jvm.h>
#include <hprof/tables.h>

#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

namespace hprof {

class FakeVm {
 public:
  struct Object {
    void* of = nullptr;  // its class
    jthread owner = nullptr;
    jint entry_count = 0;
    std::set<void*> kinds;  // classes that IsInstanceOf answers yes to
  };
  struct JavaThread {
    Object self;
    hprof_thread* view = nullptr;
    std::vector<jvmtiFrameInfo> stack;
    jint state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE;
    Object* on = nullptr;       // what GetCurrentContendedMonitor answers
    Object* blocker = nullptr;  // Thread.parkBlocker
  };

  FakeVm();
  ~FakeVm();

  MockHost mock;
  bool tells_monitors = true;         // can_get_current_contended_monitor
  bool tells_owners = true;           // GetObjectMonitorUsage works
  bool has_aqs = true;                // AbstractOwnableSynchronizer can be found
  int collections_while_holding = 0;  // so many garbage collections, one in each GetLoadedClasses
  std::multiset<void*> weak_refs;
  int64_t local_frames = 0;
  int global_refs = 0;
  uint32_t stack_walks = 0;

  JavaThread* add_thread(hprof_thread_serial serial, const std::string& method, uint32_t flags = 0);
  // An object of the class of that name. The class is made at its first use.
  Object* add_object(const std::string& class_name);
  void* class_named(const std::string& name);
  void* method_named(const std::string& name);  // "Owner.name"

  void create(const std::string& unit_id = "monitor", const std::map<std::string, std::string>& options = {});
  hprof_status start() { return ops->start(self); }
  void destroy();
  // What thread t does, at mock.now_ns.
  void enter(JavaThread* t, Object* o) {
    on(t), ops->handlers->monitor_contended_enter(self, &jni_env_, t->view, o);
  }
  void entered(JavaThread* t, Object* o) {
    on(t), ops->handlers->monitor_contended_entered(self, &jni_env_, t->view, o);
  }
  void wait(JavaThread* t, Object* o, int64_t ms) {
    on(t), ops->handlers->monitor_wait(self, &jni_env_, t->view, o, ms);
  }
  void waited(JavaThread* t, Object* o) {
    on(t), ops->handlers->monitor_waited(self, &jni_env_, t->view, o, 0);
  }
  void end(JavaThread* t) { on(t), ops->handlers->thread_end(self, &jni_env_, t->view); }
  void collect() { ops->handlers->gc_start(self), ops->handlers->gc_finish(self); }
  hprof_status report(double cutoff = 0);

  // Of the last report.
  struct Row {
    uint64_t count, ms;
    std::string frame, monitor;
    bool operator==(const Row& o) const {
      return count == o.count && ms == o.ms && frame == o.frame && monitor == o.monitor;
    }
  };
  std::vector<Row> rows() const;
  const hprof_rec_monitor_dump* dump() const;
  std::string notes() const;
  // "WAIT 3 java.lang.Object 30": all events so far.
  std::vector<std::string> events() const;
  std::string class_text(hprof_class_serial serial) const;

  void* jni() { return &jni_env_; }
  const hprof_collector_ops* ops = nullptr;
  void* self = nullptr;
  static FakeVm* current;

 private:
  void on(JavaThread* t) { running_ = t; }
  JNIEnv_ jni_env_;
  _jvmtiEnv jvmti_env_;
  JNINativeInterface_ jni_functions_;
  jvmtiInterface_1_ jvmti_functions_;
  JavaThread* running_ = nullptr;
  std::deque<JavaThread> threads_;
  std::deque<Object> objects_;
  std::map<std::string, std::unique_ptr<char>> classes_, methods_;
  std::unique_ptr<MockConfig> config_;
  friend struct FakeFunctions;
};

}  // namespace hprof
