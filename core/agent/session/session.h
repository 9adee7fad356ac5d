// A session: what the agent does from load to the end. The only globals are the pointers to the sessions that
// run (current_session.cpp).
//
// It loads, attaches, detaches and ends. Units has the units and which of them run, Reports the reports; the
// parts reach each other by SessionParts, and do not know the session. SessionBlock owns the session and its
// parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/agent/session/session_parts.h"
#include "platform/platform.h"

namespace hprof {

class AttachReply;
class TextWriter;
enum class Configured : uint32_t;
enum class ThreadChange : uint8_t;
struct HotSpotTable;
struct LoadedFile;
struct SessionBlock;

class Session {
 public:
  using Phase = SessionPhase;

  explicit Session(SessionBlock& block) : block_(block) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Load [onload].

  // Options and modules. kFailed: the error line has been printed, and the VM was not touched.
  Configured configure(JavaVM* vm, const char* options, bool attached);
  // Requests capabilities, creates collectors, opens the output. False: the error line has been printed; the
  // caller calls dispose() or ends the process.
  bool load();
  // After load in a running VM: does the work of VMInit.
  bool start_attached();
  // False: the chosen collectors had to start, and none did.
  bool runs_as_asked() const;
  // Frees everything after a load that failed.
  void dispose();
  // Opens what runs commands, for an attach with one.
  void open_commands();
  // Writes to the answer, as fields, what runs and where it writes.
  void describe(AttachReply* client);
  // What the process has one of. Set before load.
  struct Entry {
    void (*detach)(Session* session, JNIEnv* jni) = nullptr;  // on a thread that is not of the session
    bool (*claim_rewriting)() = nullptr;  // false: another session of this process rewrites classes
  };
  void set_entry(const Entry& entry) { entry_ = entry; }

  // The VM can define classes, but do little else. [app]
  void on_vm_start(JNIEnv* jni);
  // Runs handlers of units and the rewriter on a class file. [app]
  void load_class_file(const LoadedFile& file, unsigned char** new_bytes, jint* new_size);
  // The VM is live: starts the collectors. [control]
  void on_vm_init(JNIEnv* jni, jthread thread);
  // Makes the last report, and ends all agent threads. [app]
  void on_vm_death(JNIEnv* jni);
  // The process ends by exit(). Without VMDeath before, this ends the session. [any] but [signal]
  void on_exit(bool alone);
  // Frees what can be freed safely, after the VM's death or if it never got live. [control]
  void unload();

  // The control thread's work [control].

  // Called regularly: removes, and reports, classes and threads that have gone since the last collection.
  void tidy(JNIEnv* jni);
  // True: tidy() has something to do.
  bool tidies() const;
  // Ends the session's work, on an agent thread: the last report, then the collectors and the output.
  void finish(JNIEnv* jni);

  // Ends the session in a VM that goes on: writes the last report if one is due, ends all agent threads, and
  // frees everything except this object, which late callbacks may read. False: not live (the VM ends, or
  // another thread detaches), or a part did not end, and stays. [control], but not on a thread of this
  // session: see detach_soon
  bool detach(JNIEnv* jni);
  // Calls Entry::detach on a new agent thread. [control]
  void detach_soon(JNIEnv* jni);
  // Answers a client that waits for a detach, when the next attach is possible. [any] but [signal]
  void send_last_answer(const char* answer);

  SessionBlock& block() { return block_; }
  const SessionParts& parts() const { return parts_; }
  Phase phase() const { return parts_.phase(); }

 private:
  bool open_memory();
  bool get_environment();
  bool create_tables();
  bool open_control();
  bool open_windows();
  bool prepare_pipeline();
  bool offer_rewriting();
  const HotSpotTable* open_hotspot();
  bool create_collectors();
  bool open_output();
  // Ends the process before the program begins, where the VM would fail to start with many lines of its own.
  void refuse_start(const char* text);
  void on_class_gone(uint32_t serial);
  static void announce_thread(void* session, uint32_t serial, ThreadChange change);

  bool begin_dying(int64_t deadline_ns);
  bool finish_in_time(JNIEnv* jni);
  static void JNICALL run_finish(jvmtiEnv* jvmti, JNIEnv* jni, void* session);
  void abandon();
  // "<unit> has not returned from <function>". False: no thread is inside of a unit. [any]
  bool put_who_is_stuck(TextWriter* line);
  void say_who_is_stuck();
  friend class StartAlarm;
  bool end_threads(int64_t deadline_ns);
  void give_back(JNIEnv* jni);
  static void JNICALL run_detacher(jvmtiEnv* jvmti, JNIEnv* jni, void* session);

  SessionBlock& block_;
  SessionParts parts_{block_};
  Entry entry_;
  // For the thread that waits for the end.
  struct {
    platform::Event event;
    std::atomic<bool> done{false};
    bool well = false;  // only the control thread is left
  } finish_;
};

}  // namespace hprof
