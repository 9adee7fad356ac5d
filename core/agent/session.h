// A session: everything the agent owns from load to the end, passed explicitly. There is no global state
// beside it but the agent entry's pointer to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/agent/class_book.h"
#include "core/agent/class_rewriter.h"
#include "core/agent/code_cache.h"
#include "core/agent/control.h"
#include "core/agent/control_server.h"
#include "core/agent/event_hub.h"
#include "core/agent/phase_gate.h"
#include "core/agent/setup.h"
#include "core/agent/socket_reader.h"
#include "core/agent/thread_book.h"
#include "core/agent/unit_slot.h"
#include "core/agent/vm_structs.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"

namespace hprof {

// What came of a report.
struct Reported {
  uint32_t written = 0;
  uint32_t failed = 0;
  bool output_gone = false;
};

class Session {
 public:
  // kEnding: it is being detached from a VM that goes on; kDead: nothing of it runs any more.
  enum class Phase : uint32_t { kLoaded, kLive, kDying, kEnding, kDead };

  // Everything before the program starts: options, modules, capabilities, output. On failure the error line
  // has been printed; the caller disposes of the session or ends the process. [onload]
  Configured load(JavaVM* vm, const char* options, bool attached);
  // After load into a running VM: what VMInit does otherwise. [onload]
  bool start_attached();
  // Gives everything back after a load that failed. [onload]
  void dispose();
  // Ends a session in a VM that goes on: writes the last report if there is one to write, ends all threads of
  // the agent's own, gives everything back but this object itself, in which late callbacks may still look.
  // False: not live (the VM ends, or somebody else detaches), or something of it would not end, and stays.
  // [control] not on a thread of the session's own, but see detach_soon
  bool detach(JNIEnv* jni);
  // Classes with probes stay in the VM, and know addresses of this session.
  bool can_be_detached() const { return !rewriter_.is_active(); }
  // Has detach called through `detacher` on a new agent thread. [control]
  void detach_soon(JNIEnv* jni);
  void set_detacher(void (*detacher)(Session*, JNIEnv*)) { detacher_ = detacher; }
  // The VM can define classes, and does little else. [app]
  void on_vm_start(JNIEnv* jni) { rewriter_.on_vm_start(jni); }
  // Starts the collectors; the VM is live. [control]
  void on_vm_init(JNIEnv* jni, jthread thread);
  // The last report, and the end of all threads of the agent's own. [app]
  void on_vm_death(JNIEnv* jni);
  // After the VM's death or when it never lived: gives back what is safe to. [control]
  void unload();

  void request_report(uint32_t reason) { control_.request(reason); }

  // The reports of all collectors that have anything to report, one after the other; of those that emit
  // report.records, if that says any. [control]
  Reported report(const hprof_report& report);
  // Starts and stops all collectors that are not (are) running. [control]
  void start_collectors(JNIEnv* jni);
  void stop_collectors();
  // One of them. After stop_collector: settle_events, once. [control]
  bool start_collector(CollectorSlot& slot, JNIEnv* jni);
  void stop_collector(CollectorSlot& slot);
  void settle_events();
  bool is_collecting() const;
  // Returns what it became: depths have a limit. [control]
  uint32_t set_depth(uint32_t depth);
  // Writes what came of a command of net=, by its serial number: in text a note; in binary, where no record
  // has a place for it, a string that nothing refers to. One thread at a time.
  void echo(uint32_t serial, bool good, const char* text);

  const Setup& setup() const { return setup_; }
  const hprof_settings& settings() const { return settings_; }
  Control& control() { return control_; }
  uint32_t collector_count() const { return collector_count_; }
  CollectorSlot& collector(uint32_t index) { return collectors_[index]; }
  ThreadBook& threads() { return threads_; }
  const CodeCache& code_cache() const { return code_cache_; }
  ClassBook& classes() { return classes_; }
  ClassRewriter& rewriter() { return rewriter_; }
  Pipeline& pipeline() { return pipeline_; }
  Model& model() { return model_; }
  MemoryAccount& memory() { return memory_; }
  LossCounters& losses() { return losses_; }
  PhaseGate& gate() { return gate_; }
  uint32_t add_vendor_kind(const hprof_schema* schema);  // 0: too many
  JavaVM* vm() const { return vm_; }
  jvmtiEnv* jvmti() const { return jvmti_; }
  bool shows_details() const { return setup_.core().shows_details(); }
  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  JNIEnv* jni() const;
  void* vm_symbol(const char* name) const;

  // One line on stderr. [any] but [signal]
  void say(const char* text) const;
  void say_detail(const char* text) const;

 private:
  bool wait_for_control();
  bool open_memory();
  bool is_very_small() const { return memory_.is_fixed() && memory_.budget() < 4 * 1024 * 1024; }
  bool get_environment();
  bool make_units();
  bool add_slot(UnitSlot& slot, uint32_t unit_index);
  void add_up_needs();
  bool ask_for_capabilities();
  bool open_pipeline();
  bool create_collectors();
  bool open_control();
  bool offer_rewriting();
  void enable_events();
  void prepare_to_collect(JNIEnv* jni);
  hprof_status report_one(CollectorSlot& slot, const hprof_report& report);
  void last_report();
  bool end_threads(int64_t deadline_ns);
  void give_back(JNIEnv* jni);
  bool begin_dying(int64_t deadline_ns);
  bool create_tables();
  void note_losses();
  uint64_t events_wanted() const;
  bool fail(const char* text);
  static void announce_thread(void* session, uint32_t serial, bool started);
  static void JNICALL run_detacher(jvmtiEnv* jvmti, JNIEnv* jni, void* session);

  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  std::atomic<Phase> phase_{Phase::kLoaded};
  Setup setup_;
  hprof_settings settings_ = {};
  uint64_t needs_ = 0;  // HPROF_NEED_* of the units, or of their variants
  uint64_t wants_ = 0;
  MemoryAccount memory_;
  LossCounters losses_;
  Model model_;
  VmStructs vm_structs_;
  CodeCache code_cache_;
  ThreadBook threads_;
  ClassBook classes_;
  ClassRewriter rewriter_;
  EventHub events_;
  PhaseGate gate_;  // open in the live phase
  Pipeline pipeline_;
  Control control_;
  ControlServer server_;
  SocketReader reader_;
  uint32_t echoes_ = 0;
  void (*detacher_)(Session*, JNIEnv*) = nullptr;
  CollectorSlot collectors_[kMostCollectors];
  uint32_t collector_count_ = 0;
  UnitSlot encoder_;
  UnitSlot sink_;
  UnitSlot filter_;  // unit is nullptr: none
  uint32_t vendor_kinds_ = 0;
};

// Fills in the host of a unit slot: settings and the service tables. services.cpp
void make_host(UnitSlot& slot, Session* session, const hprof_settings* settings);

}  // namespace hprof
