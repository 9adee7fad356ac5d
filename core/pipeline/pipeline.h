// Passes records from the queue through the encoder to the sink.
//
//  - event(): application threads copy a record to a bounded queue; the writer thread encodes it.
//  - acquire .. write .. release: the control thread encodes, under the encode lock, so that events do not
//    interrupt a report; meanwhile the writer thread writes to the sink. A round of reports is acquire, then
//    begin_report .. write .. end_report for each collector, then release.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/counters.h"
#include "core/pipeline/event_batches.h"
#include "core/pipeline/event_queue.h"
#include "core/pipeline/old_outputs.h"
#include "core/pipeline/output.h"

namespace hprof {

struct PipelineConfig {
  OutputUnits output;
  OutputPlan plan;
  uint32_t event_slots;  // power of two
  bool takes_events;     // tables of events, which are written in batches
  uint32_t id_size;      // bytes of an object id
  bool dumps_heap;       // a heap dump may be written
  hprof_rec_control_settings settings;
  LossCounters* losses;
};

class Pipeline {
 public:
  // Makes the queue: event() works from now on. On failure one line in error. [onload]
  hprof_status prepare(MemoryAccount& memory, const PipelineConfig& config, char* error, uint32_t error_size);
  // hprof_rec_file_begin.alone; static text. Before open(). [onload]
  void set_only_table(const char* name) { only_table_ = name; }
  // Opens the first output and writes its header into the buffers. On failure one line in error. With retries
  // only checks it, and reconnect() opens it. [onload]
  hprof_status open(char* error, uint32_t error_size);
  // With retries: replaces an output that has failed or was never opened. True: a new one is open. Waits as
  // long as the sink does. [control]
  bool reconnect();
  // Starts the writer thread; earlier events are kept. [control]
  bool start();
  // True: such records reach the encoder.
  bool takes(const hprof_record& record) const { return config_.output.taken.takes(record); }
  // [app][gc] See service/emit.h.
  hprof_status event(const hprof_record* record);

  // Takes the encode lock. for_reports: a round of reports follows, which may begin the next output. False:
  // the output has failed, and the lock is not taken. [control]
  bool acquire(bool for_reports = true);
  // Ends the output of the previous report, if each report has its own. True: there was one, and it is
  // complete. [control]
  bool finish_report_output();
  // Called around the report of each collector: the encoder gets REPORT_BEGIN and REPORT_END, and the sink
  // begin_report and end_report, when the bytes before are written. [control]
  void begin_report(const hprof_report_info& info);
  void end_report(const hprof_report_info& info, hprof_status status);
  hprof_status write(hprof_record* record);  // sets its time
  hprof_status define(uint32_t kind, uint32_t id);
  // If each round of reports has its own output: ends the one that has its round, and begins the next.
  // [control]
  void renew_output();
  // Fails the output, since the report broke off and must not be taken for complete.
  void abandon(const char* why) { output_.fail(why); }
  void release();

  // Reads up to `size` bytes from the peer; 0: nothing came in timeout_ns, -1: nothing will come. The output
  // cannot be closed during a read, so keep timeout_ns short. One thread only.
  int64_t read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns);

  // Writes the rest, ends the output and the writer thread. False: the deadline has passed, and the writer
  // may still use this object. [control]
  bool finish(int64_t deadline_ns);
  // Frees the memory, after finish or a failed open(). No event() may run or come. [control]
  void destroy();
  // After release: waits until the sink has all bytes (with the filter's, unless the output ends soon), as
  // long as it accepts any. False: the output has failed. [control]
  bool settle(bool ends_soon);
  bool is_open() const { return output_.is_open(); }
  bool has_failed() const { return output_.failed(); }
  const char* name() const { return output_.name(); }
  // Counts the outputs that were opened. [control]
  uint32_t output_number() const { return sequence_; }
  uint64_t bytes_written() const { return output_.bytes_written(); }
  // A number that changes while a report makes progress: by bytes written, or by count_progress. [any]
  uint64_t progress() const { return bytes_written() + steps_.load(std::memory_order_relaxed); }
  void count_progress() { steps_.fetch_add(1, std::memory_order_relaxed); }

  // Limits how long a sink may accept nothing, since the VM ends. [any] but [signal]
  void hurry(uint64_t stall_ns);
  // Gives up the end, while a thread may be inside: drops everything from now on, and removes an incomplete
  // heap dump if possible by the deadline. [any] but [signal]
  void cut_short(int64_t deadline_ns);
  // See Output::inside.
  const hprof_host* inside(const char** function) const { return output_.inside(function); }

 private:
  static void run(void* self);
  void work();
  void write_events();
  void write_event(hprof_record* record);
  hprof_status begin_output();
  void write_border(uint32_t kind, const hprof_report_info& info, hprof_status status);
  bool settle_for_sink();
  hprof_status write_through(const hprof_record* record);
  bool encoder_has(uint32_t flags) const;  // all of these HPROF_ENCODER_*
  void say_without_stacks(const hprof_report_info& info);
  hprof_status without_unsupported(const hprof_record& record, hprof_status status);
  bool retries() const { return kHasSockets && plan_.retries; }
  bool has_whole_reports() const { return kHasSockets && plan_.whole_reports; }
  hprof_status open_output(bool check_only, char* error, uint32_t error_size);
  bool next_output(bool says_why = true);
  void say_tried_again();
  bool is_lost() const { return retries() && (!output_.is_open() || output_.failed()); }
  void end_output();
  void close_output();
  void remove_output(const char* name);
  bool wait_until_written(int64_t deadline_ns);
  uint64_t now_us() const;
  int64_t stall_ns() const;

  MemoryAccount* memory_ = nullptr;
  PipelineConfig config_ = {};
  const OutputPlan& plan_ = config_.plan;
  Output output_;
  OldOutputs old_outputs_;
  const char* only_table_ = nullptr;
  uint32_t sequence_ = 0;
  bool has_own_report_ = false;  // the output has a report that needs an output of its own
  int64_t began_ns_ = 0;
  int64_t next_try_ns_ = 0;  // after a try that took long, the earliest time of the next
  bool said_tried_again_ = false;
  uint64_t last_time_us_ = 0;  // of the report's last record
  // In this report the encoder has taken a table; it has refused one for want of stacks.
  bool has_table_ = false, lacks_stacks_ = false;
  bool said_without_stacks_ = false;
  EventQueue events_;
  EventBatches batches_;
  platform::Mutex encode_lock_;
  platform::Mutex drain_lock_;  // writing to the sink; taken after encode_lock_ where both are held
  platform::Mutex read_lock_;   // reading from the sink against closing it; taken last
  platform::Event wake_;
  platform::Thread writer_;
  platform::Thread closer_;
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint64_t> most_stall_ns_{UINT64_MAX};
  std::atomic<bool> stopping_{false};
};

}  // namespace hprof
