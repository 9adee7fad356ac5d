// What each sample's thread works for; and passes each sample on as an event, if the output takes events.
#pragma once

#include <cstdint>

#include <hprof/cpp/contexts.hpp>
#include <hprof/draft/walk.h>
#include <hprof/tables.h>

namespace hprof::samples {

// What is known of a sample besides its stack.
struct SampleHead {
  hprof_thread_serial thread;
  uint64_t at_ns = 0;  // SampleEvents::now()
  uint32_t state = HPROF_STATE_RUNNABLE;
  hprof_context context = {};           // SampleEvents::running(), of()
  uint32_t kind = HPROF_FRAME_UNKNOWN;  // of the innermost Java frame
  hprof_thread_serial mounted = 0;      // the virtual thread that `thread` runs; 0: none, or not known
};

class SampleEvents {
 public:
  // [onload]
  void open(const Services& services, const uint64_t& interval_ns, bool is_elapsed);
  // When all units have been created. [control]
  void start();
  // Samples may have kinds: events get a column of them, behind the others. After start, before the first
  // event. [control]
  void add_code();
  bool has_code() const { return code_column_ != 0; }

  // The monotonic clock; 0 if there are no events. [any]
  uint64_t now() const { return takes_events_ ? services_->clock->monotonic(services_->host) : 0; }
  // The context of the calling thread, or of the virtual thread that it runs; all zeros: none. [signal]
  hprof_context running(hprof_thread_serial thread, const void* jni) const {
    return contexts_.current(thread, jni);
  }
  // The Java id of the virtual thread that the calling thread runs; 0: none, no events, or not known.
  // [signal]
  uint64_t mounted(const void* jni) const {
    return finds_mounted_ && jni != nullptr ? set_in_java_->mounted(jni) : 0;
  }
  // That of the Java thread behind a local reference, which may be null. [control]
  hprof_context of(hprof_thread_serial thread, void* jni, void* jthread) const {
    return contexts_.of(thread, jni, jthread);
  }
  // [consumer]
  void write(const SampleHead& head, hprof_trace_serial trace, uint64_t weight) const;

 private:
  const Services* services_ = nullptr;
  bool takes_events_ = false;
  bool finds_mounted_ = false;
  const uint64_t* interval_ns_ = nullptr;
  Contexts contexts_;
  const hprof_thread_context_service* set_in_java_ = nullptr;  // null: there is none
  hprof_column columns_[sizeof(hprof_cpu_sample_event) / sizeof(hprof_cell) + 1] = {};
  hprof_table_schema schema_ = {};  // settled at the first start: the rows of one record are alike
  bool is_settled_ = false;
  uint32_t code_column_ = 0;  // 0: none
  hprof_string_id codes_[HPROF_FRAME_KINDS] = {};
};

}  // namespace hprof::samples
