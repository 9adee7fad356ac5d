// The control thread: work that must not be done inside a callback, or on a thread that the VM does not know.
//
// Two locks: `busy_` serialises reports, start and stop on any thread; `queue_lock_` guards the list of
// commands and is not held while one runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/protocol/control_server.h"
#include "platform/platform.h"

namespace hprof {

class Session;
class Setup;
struct SessionParts;

class Control {
 public:
  ~Control();
  // Opens the module `control`, unless it is open or this build has none. [onload]
  void open(Setup* setup);
  ControlServer& server() const { return *server_.load(std::memory_order_acquire); }
  // Starts the thread (an agent thread: it may use JNI). [control]
  bool start(Session* session, JNIEnv* jni);
  // Wakes the thread, which recomputes how long to sleep. [any] but [signal]
  void look_again() { wake_.signal(); }
  // Requests a report. Never waits. [any] but [signal]
  void request(uint32_t reason);
  // Runs the command on the control thread and waits for its answer, without a deadline. False: the session
  // ended before. Any thread but the control thread; of callbacks only Agent_OnAttach.
  bool perform(const Command& command, Answer* answer);
  // As perform, for a line of text (core/protocol/text_command.h); what is no command is answered at once.
  bool perform(Str line, Answer* answer);
  // Call it when an answer with `detach` has been passed on. [any] but [signal]
  void request_detach();
  bool runs() const { return running_.load(std::memory_order_acquire); }
  // Makes the thread end with Session::finish(), without waiting. False: there is no thread. [any] but
  // [signal]
  bool finish();
  // Ends the thread and refuses waiting commands. False: busy until the deadline. [control]
  bool stop(int64_t deadline_ns);
  // Refuses waiting and later commands. [control]
  void refuse_all();
  // Locks out other reports, starts and stops. False: busy until the deadline. [control]
  bool acquire(int64_t deadline_ns);
  void release() { busy_.unlock(); }

  // While one exists, the VM's attach thread waits for the session, which must not wait for that thread.
  class AttachWait {
   public:
    explicit AttachWait(Control& control) : waits_(control.attach_waits_) { waits_.fetch_add(1); }
    ~AttachWait() { waits_.fetch_sub(1); }
    AttachWait(const AttachWait&) = delete;
    AttachWait& operator=(const AttachWait&) = delete;

   private:
    std::atomic<uint32_t>& waits_;
  };
  bool is_waited_for_by_attach() const { return attach_waits_.load() != 0; }

 private:
  // A waiting command, on the waiting thread's stack; guarded by queue_lock_, except while it runs.
  struct Ticket {
    const Command* command;
    Answer* answer;
    Ticket* next;
    bool done;
    bool refused;
  };
  static constexpr uint32_t kMostReports = 64;  // waiting at a time, so that many signals add no more

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
  ControlServer no_server_;
  std::atomic<ControlServer*> server_{&no_server_};
  const ControlTable* table_ = nullptr;  // of the module that has made the server
  platform::Event wake_;
  platform::Mutex busy_;
  platform::Mutex queue_lock_;
  platform::Condition answered_;
  Ticket* first_ = nullptr;
  Ticket* last_ = nullptr;
  bool takes_commands_ = false;
  std::atomic<uint32_t> reports_{0};  // requested and not begun
  std::atomic<uint32_t> reason_{0};
  std::atomic<bool> detach_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> running_{false};
  std::atomic<uint32_t> attach_waits_{0};
};

// Makes a daemon Java thread in the system thread group and runs body on it (RunAgentThread). Its name begins
// with kAgentThread, added where `name` does not. [control]
bool run_agent_thread(const SessionParts& parts, JNIEnv* jni, const char* name, jvmtiStartFunction body,
                      void* argument);

}  // namespace hprof
