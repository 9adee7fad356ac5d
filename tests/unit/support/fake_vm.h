// A scripted VM: one JVMTI environment, the JNI functions that the agent and its units call, and threads and
// objects that the test makes. Functions that nobody needs are null. One VM at a time. unit_vm.h has a unit
// in it, without the agent.
#pragma once

#include <atomic>
#include <functional>
#include <jvmti.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

struct hprof_thread;

namespace hprof {

class FakeVm {
 public:
  struct Object {
    std::string text;      // a class's or a thread's name
    Object* of = nullptr;  // its class
    jthread owner = nullptr;
    jint entry_count = 0;
    std::set<void*> kinds;  // classes that IsInstanceOf answers yes to
    jobject ref() { return reinterpret_cast<jobject>(this); }
  };
  struct Thread : Object {
    bool is_virtual = false, is_daemon = false;
    std::string group = "main";
    void* storage = nullptr;  // JVMTI's, of that thread
    std::map<std::string, jlong> fields;
    std::vector<jvmtiFrameInfo> stack;
    jint state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE;
    Object* on = nullptr;          // what GetCurrentContendedMonitor answers
    Object* blocker = nullptr;     // Thread.parkBlocker
    hprof_thread* view = nullptr;  // what units see of it
    bool is_ending = false;        // it has no stack any more, which is no error
  };

  FakeVm();
  virtual ~FakeVm();  // joins the agent's threads: whoever runs on them has ended

  JavaVM* vm() { return &vm_; }
  jvmtiEnv* jvmti() { return &jvmti_; }
  // The environment has callbacks, or a local storage.
  bool is_environment_used() const {
    for (const void* callback : callbacks_) {
      if (callback != nullptr) return true;
    }
    return storage_ != nullptr;
  }
  JNIEnv* jni() { return &jni_; }

  // A live thread of the program's; it lives as long as the VM.
  Thread& add_thread(const std::string& name, bool is_virtual = false);
  void end(Thread& thread);  // it is no longer among the live ones
  // The class of that name, with dots; made at its first use.
  Object* class_named(const std::string& name);
  Object* add_object(const std::string& class_name);
  // What the code of `body` runs on: JVMTI's functions take no thread for the current one.
  template <class Body>
  void on(Thread& thread, const Body& body) {
    Thread* before = current();
    run(&thread);
    body();
    run(before);
  }
  static void run(Thread* thread) { current() = thread; }

  // Is the event on? Posts do nothing where it is not, as in a VM.
  bool is_enabled(jvmtiEvent event) const { return enabled_.count(event) != 0; }
  std::set<int> enabled() const { return enabled_; }
  void post_vm_start();
  void post_vm_init(Thread& thread);
  void post_vm_death();
  void post_data_dump_request();
  void post_thread_start(Thread& thread);
  void post_thread_end(Thread& thread);
  void post_gc(bool start);
  void post_monitor_wait(Thread& thread, jlong timeout);
  void post_monitor_waited(Thread& thread, bool timed_out);
  // nullptr: the class stays as it is.
  std::unique_ptr<std::string> post_class_file(const std::string& name, const std::string& bytes);

  std::vector<std::string> extensions;  // ids of JVMTI's extension functions
  std::set<int> refused_events;         // SetEventNotificationMode fails
  bool loses_storage = false;           // GetEnvironmentLocalStorage fails
  bool refuses_thread_storage = false;
  bool refuses_agent_threads = false;
  bool refuses_global_refs = false;
  uint32_t java_version = 17;
  bool tells_monitors = true;               // can_get_current_contended_monitor
  bool tells_owners = true;                 // GetObjectMonitorUsage works
  bool reflects = false;                    // ToReflectedField works
  std::function<void(Thread&)> on_state;    // GetThreadState: what happens meanwhile
  std::function<void(Thread&)> on_stack;    // GetStackTrace, the same
  std::function<void()> on_loaded_classes;  // GetLoadedClasses, the same
  std::atomic<int> global_refs{0}, blocks{0}, disposed{0}, collections{0};
  std::atomic<int> local_frames{0}, local_refs{0};       // the latter of the frame on top
  std::atomic<uint32_t> list_calls{0}, single_calls{0};  // GetThreadListStackTraces, GetStackTrace
  size_t weak_refs() const { return weak_.size(); }
  std::vector<std::string> defined;                                // classes, by DefineClass
  std::map<std::string, void*> natives;                            // that were registered
  std::map<std::string, bool> static_flags;                        // HprofCalls.live
  std::set<std::string> missing_classes;                           // FindClass finds none
  std::set<std::string> missing_fields;                            // GetFieldID finds none
  std::function<void(void* thread)> on_static_long;                // HprofCalls.stateAt() has read its word
  std::function<std::string(const std::string& name)> class_file;  // what RetransformClasses posts
  // Classes that are loaded. Retransformation, of which those that are fixed are not told
  // and those that are refused spoil it for all, posts their class files.
  std::vector<std::string> loaded;
  std::set<std::string> fixed_classes, refused_classes;
  std::vector<std::vector<std::string>> retransformed;  // what it was done for, call by call

 protected:
  virtual void made_class(Object&) {}
  jvmtiInterface_1_ jvmti_functions_ = {};

 private:
  struct Functions;
  friend struct Functions;

  static Thread*& current();
  static FakeVm* the_one;
  Object* object(const std::string& text);
  template <class F>
  F* callback(jvmtiEvent event) const;

  JavaVM vm_;
  jvmtiEnv jvmti_;
  JNIEnv jni_;
  JNIInvokeInterface_ vm_functions_ = {};
  // A newer table than this jni.h may know.
  union {
    JNINativeInterface_ table;
    void* slots[256];
  } jni_functions_;

  mutable std::recursive_mutex lock_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::set<Thread*> ended_;
  std::map<std::string, std::unique_ptr<Object>> named_, classes_;
  std::vector<std::unique_ptr<Object>> objects_;
  std::multiset<void*> weak_;
  std::vector<std::thread> agent_threads_;
  const void* storage_ = nullptr;
  std::set<int> enabled_;
  void* callbacks_[64] = {};
};

}  // namespace hprof
