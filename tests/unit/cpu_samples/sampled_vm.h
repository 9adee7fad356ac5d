// The cpu_samples collector in a scripted VM: the sampling service and AsyncGetCallTrace besides.
#pragma once

#include <functional>
#include <set>

#include <hprof/draft/code.h>
#include <hprof/draft/sampling.h>
#include <hprof/draft/vm_flags.h>
#include <hprof/draft/walk.h>

#include "plugins/cpu_samples/signal_engine.h"
#include "tests/unit/support/unit_vm.h"

struct hprof_cpu_timer {
  uint64_t os_id;
  uint64_t interval_ns;
  void* argument;
  // By the thread's CPU clock: when the timer ticks, and when its timer of moments expires; 0: never.
  uint64_t ticks_at = 0, moment_at = 0;
};

namespace hprof {

class SampledVm : public UnitVm {
 public:
  SampledVm();
  ~SampledVm() override;

  bool has_async_get_call_trace = true;
  bool precise_code = false;   // asked for
  bool walk_faults = false;    // guarded calls end in a fault
  int walk_faults_after = -1;  // only guarded calls after so many
  bool timers_fail = false;
  hprof_status timer_error = HPROF_UNSUPPORTED;  // and why
  bool moments_fail = false;
  bool knows_its_signals = true;           // the handler gets those that the agent sends itself
  intptr_t most_frames = 1024;             // -XX:MaxJavaStackTraceDepth
  const char* flight_recording = nullptr;  // -XX:StartFlightRecording
  std::function<void()> on_timer;          // before a timer is made: what other threads do meanwhile
  std::vector<hprof_async_frame> stack;    // what AsyncGetCallTrace finds ...
  int32_t walk_code = 0;                   // ... or, with an empty stack, answers
  hprof_registers registers = {};          // of the interrupted code
  bool knows_registers = false;
  std::map<uint64_t, std::vector<hprof_async_frame>> stacks_by_pc;  // found there instead
  bool has_walk = false;                                            // of its own
  std::vector<hprof_async_frame> own_stack;                         // what it finds
  uint32_t own_how = HPROF_WALKED_BODY, own_is_cut = 0;
  uint32_t own_by_vm = UINT32_MAX;  // at most as many of its frames are AsyncGetCallTrace's
  uint64_t own_outside = 0;         // code outside of Java methods was interrupted, at a system call or not
  uint32_t own_in_call = 0;
  uint32_t own_kind = HPROF_FRAME_C2;
  std::map<uint64_t, hprof_native_name> outside_names;
  const char* distrusted = nullptr;  // why it is not used any more
  struct Code {
    uint64_t end;
    void* method;
  };
  std::map<uint64_t, Code> compiled;                            // by start address
  std::map<uint64_t, std::unique_ptr<hprof_cpu_timer>> timers;  // running, by os id
  uint64_t tick_ns = 0;                                         // the kernel's; 0: no timers of moments
  uint32_t call = HPROF_CALL_NONE;                              // the interrupted one
  std::set<uint64_t> blocked;                                   // os ids of threads that block the signal
  std::map<uint64_t, std::string> native_threads;               // names by os id
  bool installed = false;
  // A tick of a thread's timer; false: it has none. late: the handle of a timer that was stopped meanwhile.
  bool tick(uint64_t os_id, uint32_t ticks = 1);
  void tick_late(void* handle, uint32_t ticks = 1);

  void* method(const std::string& owner, const std::string& name) {
    return UnitVm::method(owner + "." + name);
  }
  void create(const std::map<std::string, std::string>& options = {});
  hprof_thread* start_thread(hprof_thread_serial serial, uint64_t os_id, uint32_t flags = 0);

  // Of the last report: "method" -> samples of its innermost frame.
  const hprof_rec_table* table() const;
  std::map<std::string, uint64_t> rows() const;
  uint64_t total() const;

  static SampledVm* current;
};

}  // namespace hprof
