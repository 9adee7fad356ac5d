// A session: everything the agent owns from load to the end, passed explicitly. The only global state besides
// is the agent entry's pointer to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/agent/attach_reply.h"
#include "core/agent/class_book.h"
#include "core/agent/class_files.h"
#include "core/agent/class_rewriter.h"
#include "core/agent/control.h"
#include "core/agent/control_server.h"
#include "core/agent/event_hub.h"
#include "core/agent/last_words.h"
#include "core/agent/loader_book.h"
#include "core/agent/phase_gate.h"
#include "core/agent/session_parts.h"
#include "core/agent/setup.h"
#include "core/agent/socket_reader.h"
#include "core/agent/thread_book.h"
#include "core/agent/unit_slot.h"
#include "core/agent/unload_watch.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/hotspot/hotspot.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"

namespace hprof {

// The result of a report.
struct Reported {
  uint32_t written = 0;
  uint32_t failed = 0;
  char why[256] = "";  // of the last that failed: ": " and what was said of it
  bool output_gone = false;
};

class Session {
 public:
  // kEnding: it is being detached from a VM that goes on; kDead: nothing of it runs any more.
  enum class Phase : uint32_t { kLoaded, kLive, kDying, kEnding, kDead };

  // Options and modules. kFailed: the error line has been printed, and the VM was not touched. [onload]
  Configured configure(JavaVM* vm, const char* options, bool attached);
  // The rest before the program starts: capabilities, collectors, output. On failure the error line has been
  // printed; the caller disposes of the session or ends the process. [onload]
  bool load();
  // After load into a running VM: does what VMInit does at start-up. [onload]
  bool start_attached();
  // Gives everything back after a load that failed. [onload]
  void dispose();
  // Ends a session in a VM that goes on: writes the last report if one is due, ends all threads of the agent,
  // and frees everything except this object, which late callbacks may still read. False: not live (the VM
  // ends, or somebody else detaches), or a part of it did not end, and stays. [control], but not on a thread
  // of this session: see detach_soon
  bool detach(JNIEnv* jni);
  // The peer of net= will send no more commands: a heap dump that it has received is not repeated. [any] but
  // [signal]
  void end_conversation() { conversation_over_.store(true, std::memory_order_relaxed); }
  // Skips the report at the end, even if one is due. [control] under Control::acquire
  void leave_out_last_report() { reports_at_end_ = false; }
  // True: classes with probes stay in the VM and hold addresses of this session.
  bool can_be_detached() const { return !rewriter_.may_rewrite() && !class_files_.has_handlers(); }
  // Calls detach through `detacher` on a new agent thread. [control]
  void detach_soon(JNIEnv* jni);
  // Sends this thread's messages to `asker` instead of stderr; nullptr: to stderr again. [onload]
  void set_asker(AttachReply* asker);
  // Puts what runs, and where it writes, into the answer as fields. [onload]
  void describe(AttachReply* asker);
  // Answers a client that waits for a detach, once the next attach is possible. [any] but [signal]
  void take_leave(const char* answer) { server_.take_leave(answer); }
  // Tells the session whether another agent of this VM receives, or would receive, the calls of the tracker
  // class. Before load.
  void set_rival_check(bool (*has_rival)()) { has_rival_ = has_rival; }
  bool meets_rival() const { return has_rival_ != nullptr && has_rival_(); }
  void set_detacher(void (*detacher)(Session*, JNIEnv*)) { detacher_ = detacher; }
  // The VM can define classes, and does little else. [app]
  void on_vm_start(JNIEnv* jni) {
    if (const char* why = rewriter_.on_vm_start(jni)) refuse_start(why);
  }
  // Starts the collectors; the VM is live. [control]
  void on_vm_init(JNIEnv* jni, jthread thread);
  // The last report, and the end of all threads of the agent's own. [app]
  void on_vm_death(JNIEnv* jni);
  // The process ends by exit(). Without VMDeath before, this is the session's end. [any] but [signal]
  void on_exit(bool alone);
  // The work at the end of a session, on its own agent thread: the last report, then the end of the
  // collectors and of the output. [control]
  void finish(JNIEnv* jni);
  // After the VM's death, or if it never got live: frees what can be freed safely. [control]
  void unload();

  // While the VM's attach thread waits for the session, the session must not wait for that thread.
  class AttachWait {
   public:
    explicit AttachWait(Session* session) : waits_(session->attach_waits_) { waits_.fetch_add(1); }
    ~AttachWait() { waits_.fetch_sub(1); }
    AttachWait(const AttachWait&) = delete;
    AttachWait& operator=(const AttachWait&) = delete;

   private:
    std::atomic<uint32_t>& waits_;
  };
  bool is_waited_for_by_attach() const { return attach_waits_.load() != 0; }

  void request_report(uint32_t reason) { control_.request(reason); }

  // Writes the reports of all collectors that have data, one after the other; with report.records only of
  // those that emit one of these. [control]
  Reported report(const hprof_report& report);
  // With every=: writes the report of the window that ends now, and begins the next one. [control] under
  // Control::acquire
  void report_window();
  // End of the current window by the monotonic clock; kNoDeadline: there is none. [any]
  int64_t window_ends_at() const { return window_ends_at_.load(std::memory_order_relaxed); }
  // Writes a record of a collector's report; for a window, only what is new in it. [control]
  hprof_status write(const UnitSlot& slot, hprof_record* record);
  // The output's name; for a file its full path, built in `path`. [control]
  static constexpr size_t kOutputNameMost = 1024;
  const char* output_name(char (&path)[kOutputNameMost]) const;
  // The same with its size: "/tmp/app.txt (12 KB)". [control]
  void put_output(TextWriter* out) const;
  // Start or stop all collectors. [control]
  void start_collectors(JNIEnv* jni);
  void stop_collectors();
  // One of them. After stop_collector: settle_events, once. [control]
  bool start_collector(CollectorSlot& slot, JNIEnv* jni);
  void stop_collector(CollectorSlot& slot);
  // Never calls a collector again, because a call of it does not return; prints a message. [control]
  void abandon_collector(CollectorSlot& slot, const char* what);
  void settle_events();
  bool is_collecting() const;
  // Returns the depth that is set, which has a limit. [control]
  uint32_t set_depth(uint32_t depth);
  // Writes the result of a command of net=, by its serial number: a note in text; in binary, which has no
  // record for it, a string that nothing refers to. One thread at a time.
  void echo(uint32_t serial, bool good, const char* text);

  const SessionParts& parts() const { return parts_; }
  const Setup& setup() const { return setup_; }
  const hprof_settings& settings() const { return settings_; }
  Control& control() { return control_; }
  uint32_t collector_count() const { return collector_count_; }
  CollectorSlot& collector(uint32_t index) { return collectors_[index]; }
  ThreadBook& threads() { return threads_; }
  ClassBook& classes() { return classes_; }
  LoaderBook& loaders() { return loaders_; }
  UnloadWatch& unloads() { return unloads_; }
  // Called now and then on the control thread: forgets, and reports, classes and threads that have gone since
  // the last garbage collection.
  void tidy(JNIEnv* jni);
  void on_class_gone(uint32_t serial);
  ClassRewriter& rewriter() { return rewriter_; }
  ClassFiles& class_files() { return class_files_; }
  Pipeline& pipeline() { return pipeline_; }
  RecordKinds& kinds() { return kinds_; }
  Model& model() { return model_; }
  MemoryAccount& memory() { return memory_; }
  LossCounters& losses() { return losses_; }
  // What the calling thread may have of max-memory=: more than others if it starts a collector, makes a
  // report, or walks the heap for one. [any] but [signal]
  MemoryAccount::Share memory_share() const;
  LastWords& words() { return words_; }
  LastWords& output_words() { return output_words_; }
  PhaseGate& gate() { return gate_; }
  const void* find_extension(const char* unit_id, const char* id) const {
    return setup_.find_extension(unit_id, id);
  }
  JavaVM* vm() const { return parts_.vm; }
  jvmtiEnv* jvmti() const { return parts_.jvmti; }
  bool shows_details() const { return setup_.core().shows_details(); }
  // True: the encoder takes dumps made by somebody else. Dumps of several streams are put in order, for which
  // the sink must be able to overwrite.
  bool takes_foreign_dumps(uint32_t streams) const;
  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  JNIEnv* jni() const { return parts_.jni(); }

  // Ends the process before the program has begun, where the VM would otherwise fail to start with many lines
  // of its own. [onload][app]
  void refuse_start(const char* text);

  // One line on stderr, or to the asker (set_asker). [any] but [signal]
  void say(const char* text) const;
  void say_detail(const char* text) const;

 private:
  bool open_memory();
  static uint64_t room_of_tables(uint64_t max_memory);
  static uint64_t kept_for_reports(uint64_t budget, uint64_t left);
  bool has_enough_memory(char* error, uint32_t size);
  bool is_very_small() const { return memory_.is_fixed() && memory_.budget() < 4 * 1024 * 1024; }
  bool get_environment();
  bool make_units();
  bool can_patch() const;
  void choose_depth(const hprof_encoder_ops* encoder);
  bool add_slot(UnitSlot& slot, uint32_t unit_index);
  const hprof_variant* choose_variant(const hprof_unit* unit);
  bool ask_for_capabilities();
  bool prepare_pipeline();
  bool open_output();
  bool create_collectors();
  bool open_control();
  bool offer_rewriting();
  bool enable_events();  // false: an available event was refused, as a message says [control], ClassRewriter
                         // [app]
  void prepare_to_collect(JNIEnv* jni);
  bool is_due(const CollectorSlot& slot, const hprof_report& report) const;
  hprof_report_info info_of(CollectorSlot& slot, const hprof_report& report);
  hprof_status report_one(CollectorSlot& slot, const hprof_report& report, bool is_last, Reported* reported);
  struct OutputName {
    char text[kOutputNameMost] = "";
  };
  void put_name(OutputName* name) const;
  void say_done(const OutputName& name) const;
  bool last_report();
  int64_t exit_timeout_ns() const { return setup_.core().exit_timeout * platform::kNanosPerSecond; }
  int64_t callback_deadline() const;
  bool finish_in_time(JNIEnv* jni);
  void abandon();
  void say_who_is_stuck();
  bool is_any_gone() const;
  static void JNICALL run_finish(jvmtiEnv* jvmti, JNIEnv* jni, void* session);
  bool end_threads(int64_t deadline_ns);
  void give_back(JNIEnv* jni);
  bool begin_dying(int64_t deadline_ns);
  bool create_tables();
  void note_losses(bool says);
  bool is_window(const hprof_report& report) const;
  static Instant window_begin(const CollectorSlot& slot);
  bool says(const hprof_report& report) const;
  static hprof_status make_report(CollectorSlot& slot, const hprof_report& report);
  hprof_status make_window(CollectorSlot& slot, const hprof_report& report, const hprof_report_info& info);
  hprof_status note_window(const hprof_report_info& info);
  // While a collector is started or a report is made, with the output for it. [control], one at a time
  class MemoryFirst {
   public:
    MemoryFirst(Session& session, MemoryAccount::Share share)
        : session_(session),
          share_before_(session.share_of_first_.exchange(share)),
          before_(session.memory_first_.exchange(static_cast<uint64_t>(platform::current_thread_id()))) {}
    ~MemoryFirst() {
      session_.memory_first_.store(before_, std::memory_order_relaxed);
      session_.share_of_first_.store(share_before_, std::memory_order_relaxed);
    }
    MemoryFirst(const MemoryFirst&) = delete;
    MemoryFirst& operator=(const MemoryFirst&) = delete;

   private:
    Session& session_;
    MemoryAccount::Share share_before_;
    uint64_t before_;
  };
  void keep_windows(bool written);
  void begin_windows();
  uint64_t events_wanted() const;
  bool is_subscribed(uint64_t event) const;
  bool records_unloads() const;
  bool has_dump_a_file() const;
  bool has_document_a_file() const;
  bool fail(const char* text) const;
  void complain(const char* text) const;
  AttachReply* asker() const;
  Messages messages();
  static void announce_thread(void* session, uint32_t serial, bool started);
  static void JNICALL run_detacher(jvmtiEnv* jvmti, JNIEnv* jni, void* session);

  std::atomic<Phase> phase_{Phase::kLoaded};
  std::atomic<bool> by_exit_{false};  // the process ends by exit(), without VMDeath
  Setup setup_;
  hprof_settings settings_ = {};
  std::atomic<bool> conversation_over_{false};
  uint64_t needs_ = 0;  // HPROF_NEED_* of the units, or of their variants
  uint64_t wants_ = 0;
  MemoryAccount memory_;
  uint64_t needed_later_ = 0;  // bytes that the collectors that start, or report, will take
  LossCounters losses_;
  mutable LastWords words_;  // of this session; kept where commands can come
  LastWords output_words_;   // of the output, which may have failed long before a command asks
  Model model_;
  HotSpot hotspot_;
  ThreadBook threads_;
  LoaderBook loaders_;
  UnloadWatch unloads_;
  uint32_t unloads_swept_at_ = 0;
  ClassBook classes_;
  ClassRewriter rewriter_;
  ClassFiles class_files_;
  EventHub events_;
  platform::Mutex events_lock_;  // of what is enabled, and why
  PhaseGate gate_;               // open in the live phase
  RecordKinds kinds_;
  Pipeline pipeline_;
  Control control_;
  ControlServer server_;
  SocketReader reader_;
  uint32_t echoes_ = 0;
  uint32_t reports_begun_ = 0;
  std::atomic<uint64_t> memory_first_{0};  // see MemoryFirst
  std::atomic<MemoryAccount::Share> share_of_first_{MemoryAccount::kRest};
  uint32_t windows_begun_ = 0;
  const CollectorSlot* window_of_ = nullptr;  // whose window is being written
  double window_cutoff_ = 0;
  std::atomic<int64_t> window_ends_at_{platform::kNoDeadline};
  platform::Event finish_event_;
  std::atomic<bool> finished_{false};
  bool finished_well_ = false;  // only the control thread still runs
  bool reports_at_end_ = true;
  void (*detacher_)(Session*, JNIEnv*) = nullptr;
  AttachReply* asker_ = nullptr;  // looked at by the thread of asker_thread_ only
  std::atomic<uint32_t> asker_thread_{0};
  bool (*has_rival_)() = nullptr;
  std::atomic<uint32_t> attach_waits_{0};
  CollectorSlot collectors_[kMostCollectors];
  uint32_t collector_count_ = 0;
  UnitSlot encoder_;
  UnitSlot sink_;
  UnitSlot filter_;  // unit is nullptr: none
  SessionParts parts_ = {settings_, messages(), memory_,      model_, hotspot_, threads_,
                         classes_,  rewriter_,  class_files_, kinds_, control_};
};

// Fills in the host of a unit slot: settings and the service tables. services.cpp
void make_host(UnitSlot& slot, Session* session, const hprof_settings* settings);

}  // namespace hprof
