// One output: an encoder on a sink, the definitions that it has, and the chunks in between.
//
// Encoding is serial (the pipeline's encode lock); writing to the sink is the writer thread's. An output that
// fails prints one message, drops everything from then on and never harms the application.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/sink.h>

#include "core/base/build.h"
#include "core/base/inside.h"
#include "core/pipeline/chunk_queue.h"
#include "core/pipeline/output_definitions.h"
#include "core/pipeline/record_kinds.h"

namespace hprof {

class UnitText;

// The most time for a heap dump that makes progress.
constexpr int64_t kDumpTotalNs = 3600 * platform::kNanosPerSecond;

// The units of an output, and its destination. Pointers live as long as the session.
struct OutputPlan {
  const hprof_host* encoder_host;
  const hprof_encoder_ops* encoder;
  const void* encoder_config;
  const hprof_host* sink_host;
  const hprof_sink_ops* sink;
  const void* sink_config;
  const char* address;
  uint32_t force;
  uint32_t chunks;
  uint32_t chunk_bytes;
  uint64_t stall_ns;  // a sink that accepts no byte for this long is given up
  void (*say)(const hprof_host* host, const char* text);
  // A unit broke its contract.
  void (*complain)(const hprof_host* host, const char* text);
  uint32_t whole_only = 0;  // see hprof_sink_target
  uint32_t look_only = 0;
  uint32_t most_numbers = 0;  // see OutputDefinitions
  // Between encoder and sink; nullptr: none.
  const hprof_host* filter_host = nullptr;
  const hprof_filter_ops* filter = nullptr;
  const void* filter_config = nullptr;
  // A last check before the sink is opened; false: do not open it, `error` says why. nullptr: none.
  bool (*may_open)(const hprof_host* host, char* error, uint32_t error_size) = nullptr;
  // The VM is stopped during a heap dump, so a dump is given up when it has waited this long for the sink,
  // plus a second for each MiB, at most kDumpTotalNs. 0: no limit.
  uint64_t dump_stall_ns = 0;
  TakenKinds taken;  // by the encoder; records of other kinds do not reach it
  // Called after a unit was destroyed or closed, to check that it holds nothing. nullptr: no check.
  void (*gave_back)(const hprof_host* host) = nullptr;
};

class Output {
 public:
  // Opens sink and encoder. On failure the reason, one line, is in error, and nothing is held. Nothing is
  // held either, without a reason, if the sink was only to be checked. [onload][control]
  hprof_status open(MemoryAccount& memory, const OutputPlan& plan, uint32_t sequence, char* error,
                    uint32_t error_size);
  // Encodes the record and, before it, the definitions that it needs. [writer] under the encode lock
  hprof_status write(const hprof_record* record);
  hprof_status define(uint32_t kind, uint32_t id, uint64_t time_us);
  // Hands over what was encoded so far. [writer] under the encode lock
  void flush();
  // Writes the chunks handed over to the sink; returns whether there were any. Writer thread only.
  bool drain();
  // True: the sink wants each report as a whole.
  bool wants_whole_reports() const {
    return kHasSockets && HPROF_REACHES(plan_.sink, hprof_sink_ops, flags) &&
           (plan_.sink->flags & HPROF_SINK_WHOLE_REPORTS) != 0;
  }
  // Restarts the encoder: the next bytes begin an output. [writer] under both locks, when all bytes up to
  // here are written
  void renew_encoder(MemoryAccount& memory);
  // True: the sink wants to know where reports begin and end.
  bool tells_reports() const {
    return HPROF_HAS(plan_.sink, hprof_sink_ops, begin_report) ||
           HPROF_HAS(plan_.sink, hprof_sink_ops, end_report);
  }
  // Tell it, when all bytes up to here are written. Each begin has an end; a missing one is called before the
  // sink is closed. [writer] under both locks
  void begin_report(const hprof_report_info& info);
  void end_report(bool complete);
  // Writes the filter's remaining bytes to the sink and restarts the filter. [writer] under the drain lock
  void renew_filter();
  // Ends the output. Nothing may be writing. [writer][control]
  void close(MemoryAccount& memory, bool complete);

  // Bytes that the other end of a duplex sink sent, as hprof_sink_ops.read. The caller makes sure that the
  // output is not closed meanwhile. [control]
  int64_t read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns);

  bool is_open() const { return sink_self_ != nullptr; }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void fail(const char* why) { fail(why, name()); }
  void fail(const char* why, const char* where);
  const char* name() const;
  // While the encoding thread is the one that drains, too, or there is no writer thread, full chunks and
  // large records are written at once: it must not wait for itself.
  void set_draining(bool draining) { draining_ = draining; }
  // Wakes the writer thread after a chunk was handed over.
  void on_chunk(void (*wake)(void*), void* context) {
    wake_ = wake;
    wake_context_ = context;
  }
  // Whether large records can go to the sink without a copy, from a thread that drains.
  bool takes_through() const { return filter_self_ == nullptr; }
  // From now on a sink that accepts nothing for this long is given up. [any] but [signal]
  void set_stall(uint64_t ns) { stall_ns_.store(ns, std::memory_order_relaxed); }
  // Drops everything from now on, like fail(), but prints nothing. [any] but [signal]
  void give_up() { failed_.store(true, std::memory_order_release); }
  // Closes only the sink, of a truncated output. [writer] not writing
  void close_sink() { end_sink(false); }
  // The unit that a thread is inside of, with the function in *function; nullptr: none. [any]
  const hprof_host* inside(const char** function) const;
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  // True once a report was written to it.
  bool has_report = false;

 private:
  struct Out {
    hprof_out base;
    Output* owner;
  };
  static hprof_status more(hprof_out* out, uint32_t need);
  static hprof_status through(hprof_out* out, const uint8_t* bytes, uint64_t size);
  static uint64_t position(hprof_out* out);
  static hprof_status patch(hprof_out* out, uint64_t position, const void* bytes, uint64_t size);
  static hprof_status write_definition(void* context, const hprof_record* record);
  hprof_status encode(const hprof_record* record);
  const char* words_of(const hprof_host* host, UnitText& text) const;
  void gave_back(const hprof_host* host) const;
  hprof_status open_parts(MemoryAccount& memory, uint32_t sequence, char* error, uint32_t error_size);
  hprof_status next_chunk();
  bool is_at_in_window();
  bool is_window_kept();
  void end_sink(bool complete);
  void destroy_encoder();
  void begin_chunk();
  bool write_chunk(const ChunkQueue::Chunk& chunk);
  bool write_bytes(const uint8_t* bytes, uint64_t size);
  void note_dump(const hprof_record& record);
  bool is_too_slow(uint64_t spent_ns, uint64_t taken);
  bool open_filter(char* error, uint32_t error_size);
  void finish_filter();
  static hprof_status pass(void* self, const uint8_t* bytes, uint64_t size);

  OutputPlan plan_ = {};
  void* encoder_self_ = nullptr;
  void* sink_self_ = nullptr;
  void* filter_self_ = nullptr;
  hprof_report_info report_ = {};  // the sink is inside of; size 0: none
  OutputDefinitions definitions_;
  ChunkQueue chunks_;
  Out out_ = {};
  uint64_t definition_time_us_ = 0;
  uint64_t encoded_ = 0;  // bytes of chunks that were left behind
  bool draining_ = false;
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> stall_ns_{0};
  std::atomic<bool> in_dump_{false};
  std::atomic<uint64_t> dump_bytes_{0};  // taken by the sink, and nanoseconds spent in it
  std::atomic<uint64_t> dump_ns_{0};
  InsideMark in_encoder_{nullptr};
  InsideMark in_filter_{nullptr};
  InsideMark in_sink_{nullptr};
  std::atomic<uint64_t> bytes_written_{0};
  void (*wake_)(void*) = nullptr;
  void* wake_context_ = nullptr;
};

}  // namespace hprof
