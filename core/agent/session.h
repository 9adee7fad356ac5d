// A session: everything the agent owns from load to the end, passed explicitly. The only global state besides
// is the agent entry's pointer to it.
//
// It loads, attaches, detaches and ends. What units there are and which of them run is Units', what is
// reported and when is Reports'; the parts know each other by SessionParts, and none knows the session.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/agent/attach_reply.h"
#include "core/agent/class_book.h"
#include "core/agent/class_files.h"
#include "core/agent/class_rewriter.h"
#include "core/agent/control.h"
#include "core/agent/loader_book.h"
#include "core/agent/memory_plan.h"
#include "core/agent/phase_gate.h"
#include "core/agent/reports.h"
#include "core/agent/session_parts.h"
#include "core/agent/setup.h"
#include "core/agent/socket_reader.h"
#include "core/agent/thread_book.h"
#include "core/agent/units.h"
#include "core/agent/unload_watch.h"
#include "core/agent/voice.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/control/control_server.h"
#include "core/hotspot/hotspot.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"

namespace hprof {

class Session {
 public:
  using Phase = SessionPhase;

  Session() = default;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- load [onload]

  // Options and modules. kFailed: the error line has been printed, and the VM was not touched.
  Configured configure(JavaVM* vm, const char* options, bool attached);
  // The rest before the program starts: capabilities, collectors, output. On failure the error line has been
  // printed; the caller disposes of the session or ends the process.
  bool load();
  // After load into a running VM: does what VMInit does at start-up.
  bool start_attached();
  // Gives everything back after a load that failed.
  void dispose();
  // Puts what runs, and where it writes, into the answer as fields.
  void describe(AttachReply* asker);
  // What only the agent's entry knows. Before load.
  struct Entry {
    void (*detach)(Session* session, JNIEnv* jni) = nullptr;  // on a thread that is not the session's
    // Another agent of this VM receives, or would receive, the calls of the tracker class.
    bool (*has_rival)() = nullptr;
  };
  void set_entry(const Entry& entry) { entry_ = entry; }

  // --- events of the VM

  // The VM can define classes, and does little else. [app]
  void on_vm_start(JNIEnv* jni);
  // Handlers of units and probes change it. [app]
  void load_class_file(const LoadedFile& file, unsigned char** new_bytes, jint* new_size);
  // Starts the collectors; the VM is live. [control]
  void on_vm_init(JNIEnv* jni, jthread thread);
  // The last report, and the end of all threads of the agent's own. [app]
  void on_vm_death(JNIEnv* jni);
  // The process ends by exit(). Without VMDeath before, this is the session's end. [any] but [signal]
  void on_exit(bool alone);
  // After the VM's death, or if it never got live: frees what can be freed safely. [control]
  void unload();

  // --- the control thread's work [control]

  // Called now and then: forgets, and reports, classes and threads that have gone since the last garbage
  // collection.
  void tidy(JNIEnv* jni);
  // There is something to tidy from time to time.
  bool tidies() const { return classes_.is_kept() || unloads_.is_on(); }
  // The work at the end of a session, on its own agent thread: the last report, then the end of the
  // collectors and of the output.
  void finish(JNIEnv* jni);

  // --- detach

  // True: classes with probes stay in the VM and hold addresses of this session.
  bool can_be_detached() const { return !rewriter_.may_rewrite() && !class_files_.has_handlers(); }
  // Ends a session in a VM that goes on: writes the last report if one is due, ends all threads of the agent,
  // and frees everything except this object, which late callbacks may still read. False: not live (the VM
  // ends, or somebody else detaches), or a part of it did not end, and stays. [control], but not on a thread
  // of this session: see detach_soon
  bool detach(JNIEnv* jni);
  // Calls Entry::detach on a new agent thread. [control]
  void detach_soon(JNIEnv* jni);
  // Answers a client that waits for a detach, once the next attach is possible. [any] but [signal]
  void take_leave(const char* answer) { server_->take_leave(answer); }

  // --- its parts

  const SessionParts& parts() const { return parts_; }
  const Setup& setup() const { return setup_; }
  Voice& voice() { return voice_; }
  Units& units() { return units_; }
  Reports& reports() { return reports_; }
  Control& control() { return control_; }
  ClassRewriter& rewriter() { return rewriter_; }
  Pipeline& pipeline() { return pipeline_; }
  PhaseGate& gate() { return gate_; }  // open in the live phase
  Phase phase() const { return phase_.load(std::memory_order_acquire); }

 private:
  bool open_memory();
  bool get_environment();
  bool create_tables();
  bool open_control();
  void open_server();
  bool prepare_pipeline();
  bool offer_rewriting();
  const HotSpotTable* open_hotspot();
  bool create_collectors();
  bool open_output();
  bool meets_rival() const { return entry_.has_rival != nullptr && entry_.has_rival(); }
  // Ends the process before the program has begun, where the VM would otherwise fail to start with many lines
  // of its own.
  void refuse_start(const char* text);
  void on_class_gone(uint32_t serial);
  static void announce_thread(void* session, uint32_t serial, bool started);

  bool begin_dying(int64_t deadline_ns);
  bool finish_in_time(JNIEnv* jni);
  static void JNICALL run_finish(jvmtiEnv* jvmti, JNIEnv* jni, void* session);
  void abandon();
  void say_who_is_stuck();
  bool end_threads(int64_t deadline_ns);
  void give_back(JNIEnv* jni);
  static void JNICALL run_detacher(jvmtiEnv* jvmti, JNIEnv* jni, void* session);

  std::atomic<Phase> phase_{Phase::kLoaded};
  Setup setup_;
  Voice voice_{setup_.core()};
  MemoryAccount memory_;
  MemoryTurn turn_;
  LossCounters losses_;
  Model model_;
  HotSpot hotspot_;
  ThreadBook threads_;
  LoaderBook loaders_;
  ClassBook classes_;
  UnloadWatch unloads_;
  ClassRewriter rewriter_;
  ClassFiles class_files_;
  PhaseGate gate_;
  RecordKinds kinds_;
  Pipeline pipeline_;
  Units units_{parts_};
  Reports reports_{parts_};
  Control control_;
  ControlServer no_server_;
  ControlServer* server_ = &no_server_;
  const ControlTable* control_table_ = nullptr;  // of the module that has made the server
  SocketReader reader_;
  Entry entry_;
  // What the thread that waits for the end sees.
  struct {
    platform::Event event;
    std::atomic<bool> done{false};
    bool well = false;  // only the control thread still runs
  } finish_;
  SessionParts parts_ = {
      phase_,    setup_, units_.settings(), voice_,   voice_.messages(), memory_,  turn_,     losses_,
      model_,    kinds_, hotspot_,          threads_, classes_,          unloads_, rewriter_, class_files_,
      pipeline_, units_, reports_,          control_};
};

}  // namespace hprof
