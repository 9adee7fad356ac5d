// The control thread: what must not be done inside a callback, or on a thread that the VM does not know, is
// asked for here.
//
// Two locks: `busy_` serialises what changes the session (reports, start, stop), whoever does it;
// `queue_lock_` guards the list of commands and is never held while one runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/agent/answer.h"
#include "core/control/command.h"
#include "platform/platform.h"

namespace hprof {

class Session;

class Control {
 public:
  // Starts the thread (an agent thread: it may use JNI). [control]
  bool start(Session* session, JNIEnv* jni);
  // The thread looks how long it may sleep. [any] but [signal]
  void look_again() { wake_.signal(); }
  // Asks for a report. Never waits. [any] but [signal]
  void request(uint32_t reason);
  // Has the command run and waits for its answer, however long it takes. False: the session ends before its
  // turn. Any thread but the control thread; inside a callback only Agent_OnAttach.
  bool perform(const Command& command, Answer* answer);
  // After an answer with `detach` has been handed on. [any] but [signal]
  void request_detach();
  // Has the thread run Session::finish() as its last work, without waiting for it. False: there is no thread.
  // [any] but [signal]
  bool finish();
  // Ends the thread and refuses the commands that wait; false: it is still busy at the deadline. [control]
  bool stop(int64_t deadline_ns);
  // Refuses the commands that wait, and those that come. [control]
  void refuse_all();
  // Serialises what runs on control threads: reports, start, stop. False: not free until the deadline.
  // [control]
  bool acquire(int64_t deadline_ns);
  void release() { busy_.unlock(); }

 private:
  // On the stack of the thread that waits; everything in it is under queue_lock_ but while it runs.
  struct Ticket {
    const Command* command;
    Answer* answer;
    Ticket* next;
    bool done;
    bool refused;
  };
  static constexpr uint32_t kMostReports = 64;  // asked for at a time; a flood of signals is no more

  static void JNICALL run(jvmtiEnv* jvmti, JNIEnv* jni, void* self);
  void work(JNIEnv* jni);
  void write_reports();
  void write_window();
  int64_t wake_at() const;
  void run_commands(JNIEnv* jni);
  Ticket* take_ticket();
  void finish_ticket(Ticket* ticket, bool refused);
  bool may_go_on() const;

  Session* session_ = nullptr;
  platform::Event wake_;
  platform::Mutex busy_;
  platform::Mutex queue_lock_;
  platform::Condition answered_;
  Ticket* first_ = nullptr;
  Ticket* last_ = nullptr;
  bool takes_commands_ = false;
  std::atomic<uint32_t> reports_{0};  // asked for and not begun
  std::atomic<uint32_t> reason_{0};
  std::atomic<bool> detach_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> running_{false};
};

// Makes a daemon Java thread in the system thread group and runs body on it (RunAgentThread). [control]
bool run_agent_thread(Session* session, JNIEnv* jni, const char* name, jvmtiStartFunction body,
                      void* argument);

}  // namespace hprof
