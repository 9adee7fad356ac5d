// A host for unit tests of collectors, encoders, filters and sinks: all services work in memory.
//
// Installed as hprof/mock/, CMake target hprof::mock: tests of a unit need nothing else, and no VM. In C++17,
// for units in any language. unit_run.h runs a unit in one line; mock_config.h fills in its options.
//
// Deterministic: the clocks stand still unless a test moves them, agent threads run when a test says so, on
// the calling thread. Threads: services may be called from several (one lock around each call); the public
// members are the test's own and are read or changed while no unit code runs. Units: times in nanoseconds and
// memory in bytes, unless a name says otherwise. Ownership: what the host returns lives as long as it does.
// Errors: a mistake in a test (no such option, no such unit) ends it with a line on stderr.
//
// Missing, as on a VM other than HotSpot: all drafts but library and sampling. set_service adds
// them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <hprof/collector.h>
#include <hprof/draft/library.h>
#include <hprof/draft/sampling.h>
#include <hprof/host.h>
#include <hprof/service/accounting.h>
#include <hprof/service/clock.h>
#include <hprof/service/context.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/probes.h>
#include <hprof/service/threads.h>

#include "mock_record.h"

namespace hprof {
class MockHost;
}

// An agent thread that a unit has started. A complete type, so that tests can read it.
struct hprof_agent_thread {
  hprof::MockHost* host;
  std::string name;
  void (*body)(void* argument, void* jni, hprof_agent_thread* thread);
  void* argument;
  uint32_t turns_left = 0;  // of wait() until the body is told to stop
  uint32_t woken = 0;
  bool stopped = false;
};

namespace hprof {

// A file or a connection of the in-memory io service.
struct MockFile {
  std::string path;  // or address
  std::string bytes;
  bool open = false;
  bool socket = false;
  uint32_t mode = 0600;
};

class MockHost {
 public:
  MockHost();
  ~MockHost();
  MockHost(const MockHost&) = delete;
  MockHost& operator=(const MockHost&) = delete;

  const hprof_host* host() const { return &table_.base; }

  // Depth 4, line numbers on, Java 17, everything granted.
  hprof_settings settings;

  // Replaces a service by a test's own table; nullptr: the service does not exist.
  void set_service(const char* id, const void* table) { services_[id] = table; }

  // The answers of find_extension.
  std::map<std::string, const void*> extensions;  // by "unit id"

  // --- log
  std::vector<std::string> messages, details;
  bool has_counters = true;  // false: loss_counter answers NULL
  // 0 if nobody has requested the counter.
  uint64_t loss(const std::string& what) const;
  std::map<std::string, uint64_t> losses() const;  // that are not 0
  bool said(const std::string& part) const;        // a message contains `part`

  // --- mem
  uint64_t memory_limit = UINT64_MAX;     // bytes in use at most
  uint64_t memory_used = 0;               // 0 again when everything was released with the right size
  uint64_t charge_limit = UINT64_MAX;     // bytes of reserved memory charged at most
  uint64_t memory_charged = 0;            // the same: 0 again at the end
  uint64_t allocations = 0;               // calls so far
  uint64_t fail_allocation = UINT64_MAX;  // the number, from 0, of the call that fails
  std::set<void*> wrong_releases;         // blocks that were not allocated, or not with that size
  bool is_allocated(void* block) const;
  std::function<void()> on_allocate;  // called before each; acts as other threads do

  // --- clock
  uint64_t now_ns = 1000000000;  // monotonic
  uint64_t wall_clock_ms = 1700000000000;
  int32_t utc_offset_s = 0;
  uint64_t process_cpu_ns = 0;
  std::set<uint64_t> running_threads;          // by os id: their CPU clocks move by 1 ns at each reading
  std::map<uint64_t, uint64_t> thread_cpu_ns;  // by os id; a missing thread: unknown
  uint64_t cpu_clock_step_ns = 0;              // the calling thread's clock (os id 0) moves so far ...
  uint32_t cpu_clock_reads_a_step = 8;         // ... with so many reads
  uint32_t cpu_clock_reads = 0;                // of it

  // --- ids: what the core would have learnt of the VM
  hprof_string_id string(const std::string& text);
  hprof_class_serial add_class(const std::string& name, const std::string& signature,
                               const std::string& source = "", hprof_object_id object = 0,
                               hprof_trace_serial trace = 0);
  hprof_method_id add_method(hprof_class_serial owner, const std::string& name, const std::string& signature);
  hprof_frame_id add_frame(hprof_method_id method, int32_t line);
  hprof_trace_serial add_trace(const std::vector<hprof_frame_id>& frames, hprof_thread_serial thread = 0,
                               uint32_t flags = 0);
  hprof_thread_serial add_thread(const std::string& name, const std::string& group,
                                 const std::string& parent_group, hprof_object_id object = 0,
                                 hprof_trace_serial trace = 0, uint32_t flags = 0);
  void set_thread_ids(hprof_thread_serial serial, uint64_t java_id, uint64_t os_id);
  void rename_thread(hprof_thread_serial serial, const std::string& name);
  bool tables_are_full = false;  // ids->trace answers 0
  // The answers of ids->frame and ids->class_serial for a raw jmethodID or jclass.
  std::map<void*, hprof_method_id> raw_methods;
  std::map<void*, hprof_class_serial> raw_classes;
  std::string text(hprof_string_id id) const;
  // "java.util.Map.get(Map.java:12)".
  std::string frame_text(hprof_frame_id id) const;
  std::vector<std::string> trace_text(hprof_trace_serial serial) const;
  bool is_cut(hprof_trace_serial serial) const {
    return (traces_.at(serial - 1).info.flags & HPROF_TRACE_CUT) != 0;
  }

  // --- emit: deep copies, in order
  std::vector<MockRecord> events, written;
  std::vector<std::string> kinds;        // registered names, the first is HPROF_RECORD_REGISTERED
  hprof_status event_status = HPROF_OK;  // the answer of event; HPROF_OK keeps the record
  hprof_status write_status = HPROF_OK;
  std::function<void()> on_write;  // called before each write; acts as other threads do

  // --- threads
  std::vector<std::unique_ptr<hprof_agent_thread>> agent_threads;  // started, and not stopped yet
  bool threads_start = true;
  // Calls so far that start something: a thread, a timer, a signal handler, probes, accounting.
  uint32_t starts = 0;
  uint32_t fail_start = UINT32_MAX;  // the number, from 0, of the one that is refused
  // Runs the body of a started thread on the calling thread; wait() returns `turns` times, then tells it to
  // stop. Each wait moves the clock by its time, unless on_wait is set.
  void run_thread(size_t index, uint32_t turns);
  std::function<void(uint64_t ns)> on_wait;
  // Called by pause, which sleeps without it.
  std::function<void(uint64_t ns)> on_pause;
  struct AppThread {
    hprof_thread thread;
    void* jthread;
  };
  std::deque<AppThread> app_threads;  // visited by each(), known to serial_of()
  hprof_thread* add_app_thread(hprof_thread_serial serial, uint64_t os_id, void* jthread = nullptr,
                               uint32_t flags = 0);

  // --- context: by thread serial; set() is called by calling_thread
  bool contexts_enabled = false;
  hprof_thread_serial calling_thread = 1;  // 0: a virtual thread, or one that the core does not know
  std::map<hprof_thread_serial, hprof_context> contexts;

  // --- io
  std::map<std::string, MockFile> files;  // by path; a file put here exists already
  std::vector<MockFile> connections;
  uint64_t write_most = UINT64_MAX;  // bytes that one write takes
  uint64_t space_left = UINT64_MAX;  // afterwards writes fail: "No space left on device"
  uint32_t stalled_writes = 0;       // number of writes that time out first
  std::string connect_error;         // not empty: connect fails with it
  std::string prove_error;           // not empty: prove fails with it
  uint32_t proofs = 0;               // of connections
  uint32_t secrets_looked_at = 0;    // without a connection
  std::string close_error;           // not empty: close fails with it
  uint64_t last_connect_timeout_ns = 0;
  std::deque<std::string> incoming;  // answers of read, in order; "": the peer is gone
  uint64_t pid = 4711;
  std::string stamp = "20260102030405";
  std::string working_folder;  // empty: absolute_path does not know it

  // --- jvm: a VM that knows nothing. Each JVMTI function answers JVMTI_ERROR_NOT_AVAILABLE, each JNI
  // function 0. Absent on 32-bit Windows, whose VM calls functions in another way.
  // From here on it has one class with two methods, which ids knows, one object, and a stack of both methods
  // on every thread.
  void let_vm_answer();
  static void* vm_class();   // jclass
  static void* vm_object();  // jobject

  // --- accounting
  std::vector<std::string> accounting_columns = {"user", "system"};
  std::map<uint64_t, std::vector<uint64_t>> accounting;  // by os id

  // --- probes
  std::vector<hprof_probe_user> probe_users;  // of ask(); the first one's number is 1
  std::set<uint32_t> probes_started;          // numbers of those that have been started and not stopped
  hprof_status probe_status = HPROF_OK;       // the answer of ask
  // The native target of a user at that point (HPROF_POINT_*), which tests cast and call; null: none.
  void (*probe_target(uint32_t probes, uint32_t point) const)();

  // --- draft: library
  std::map<std::string, std::map<std::string, void*>> libraries;  // by path; "" = the VM's own symbols

  // --- draft: sampling. As the timer of that thread would fire.
  void tick(uint64_t os_id, uint32_t ticks = 1, void* ucontext = nullptr);
  bool is_sampling() const { return tick_handler_ != nullptr || !timers_.empty(); }

 private:
  struct Table {
    hprof_host base;
    MockHost* self;
  };
  static MockHost* of(const hprof_host* host) {
    return const_cast<MockHost*>(reinterpret_cast<const Table*>(host)->self);
  }
  // Locks the host while a service answers.
  class Locked {
   public:
    explicit Locked(const hprof_host* host) : host_(of(host)), guard_(host_->lock_) {}
    MockHost* operator->() const { return host_; }
    operator MockHost*() const { return host_; }

   private:
    MockHost* host_;
    std::lock_guard<std::mutex> guard_;
  };
  hprof_string_id intern(const std::string& text);  // the lock is held
  bool is_refused() { return starts++ == fail_start; }
  void add_vm_services();

  Table table_;
  std::map<std::string, const void*> services_;
  mutable std::mutex lock_;
  std::map<std::string, std::unique_ptr<uint64_t>> counters_;
  struct Block {
    uint64_t bytes;
    void* start;
  };
  std::map<void*, Block> blocks_;

  std::map<std::string, hprof_string_id> string_ids_;
  std::deque<std::string> strings_;
  std::deque<hprof_class_info> classes_;
  std::deque<hprof_method_info> methods_;
  std::deque<hprof_frame_info> frames_;
  std::map<std::pair<hprof_method_id, int32_t>, hprof_frame_id> frame_ids_;
  struct Trace {
    hprof_trace_info info;
    std::vector<hprof_frame_id> frames;
  };
  std::deque<Trace> traces_;
  std::map<std::pair<hprof_thread_serial, std::vector<hprof_frame_id>>, hprof_trace_serial> trace_ids_;
  std::map<std::string, hprof_frame_id> synthetic_;  // by class.method
  std::deque<hprof_thread_info> threads_;
  std::deque<MockFile*> handles_;
  std::deque<MockFile> open_sockets_;
  std::map<uint64_t, void*> timers_;  // by os id
  bool vm_answers_ = false;
  std::function<void(void* timer, void* ucontext, uint32_t ticks)> tick_handler_;

  friend struct MockLog;
  friend struct MockMem;
  friend struct MockClock;
  friend struct MockIds;
  friend struct MockEmit;
  friend struct MockThreads;
  friend struct MockContext;
  friend struct MockIo;
  friend struct MockJvm;
  friend struct MockAccounting;
  friend struct MockProbes;
  template <class Probes, Probes MockHost::*kKept>
  friend struct MockKind;
  friend struct MockLibrary;
  friend struct MockSampling;
};

// The tables of the services that have a file of their own.
const hprof_ids_service* mock_ids_service();
const hprof_io_service* mock_io_service();

}  // namespace hprof
