// One output: an encoder on a sink, the definitions that it has, and the chunks in between.
//
// Encoding is serial (the pipeline's encode lock); the writer thread writes to the sink. An output that fails
// prints one message, then drops everything.
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
#include "core/pipeline/output_plan.h"
#include "core/pipeline/record_kinds.h"

namespace hprof {

class UnitText;

// The longest time for a heap dump that makes progress.
constexpr int64_t kDumpTotalNs = 3600 * platform::kNanosPerSecond;

// The units of an output, its destination and its buffers. Pointers live as long as the session.
struct OutputUnits {
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
  // Reports a unit that broke its contract.
  void (*complain)(const hprof_host* host, const char* text);
  uint32_t most_numbers = 0;  // see OutputDefinitions
  // The filter between encoder and sink; nullptr: none.
  const hprof_host* filter_host = nullptr;
  const hprof_filter_ops* filter = nullptr;
  const void* filter_config = nullptr;
  // A last check before the sink is opened; false: `error` says why not. nullptr: no check.
  bool (*may_open)(const hprof_host* host, char* error, uint32_t error_size) = nullptr;
  // A heap dump, which stops the VM, fails when it has waited this long for the sink, plus a second for each
  // MiB, at most kDumpTotalNs. 0: no limit.
  uint64_t dump_stall_ns = 0;
  TakenKinds taken;  // by the encoder; it gets no other records
  // Called after a unit was destroyed or closed, to check that it has released everything. nullptr: no check.
  void (*gave_back)(const hprof_host* host) = nullptr;
};

class Output {
 public:
  // Opens sink and encoder. On failure error has the reason, one line, and nothing is held; nor with
  // check_only, which only checks the sink. [onload][control]
  hprof_status open(MemoryAccount& memory, const OutputUnits& units, const OutputPlan& plan,
                    uint32_t sequence, bool check_only, char* error, uint32_t error_size);
  // Encodes the record, after the definitions that it needs. [writer] under the encode lock
  hprof_status write(const hprof_record* record);
  hprof_status define(uint32_t kind, uint32_t id, uint64_t time_us);
  // Hands the encoded bytes over for writing. [writer] under the encode lock
  void flush();
  // Writes the waiting chunks to the sink; true: there were some. Writer thread only.
  bool drain();
  // Restarts the encoder for a new output. [writer] under both locks, when all earlier bytes are written
  void renew_encoder(MemoryAccount& memory);
  // Call the sink's functions, when all earlier bytes are written. A missing end is called before the sink is
  // closed. [writer] under both locks
  void begin_report(const hprof_report_info& info);
  void end_report(bool complete);
  // Writes the filter's remaining bytes to the sink and restarts the filter. [writer] under the drain lock
  void renew_filter();
  // Ends the output. No thread may be writing. [writer][control]
  void close(MemoryAccount& memory, bool complete);
  // After the last close(), with OutputPlan::keeps_encoder. [control]
  void destroy_encoder();

  // Reads from the peer of a duplex sink (hprof_sink_ops.read). The caller makes sure that the output is not
  // closed meanwhile. [control]
  int64_t read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns);

  bool is_open() const { return sink_self_ != nullptr; }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void fail(const char* why) { fail(why, name()); }
  void fail(const char* why, const char* where);
  const char* name() const;
  // True: the encoding thread also drains, or there is no writer thread: full chunks and large records are
  // written at once, since waiting would never end.
  void set_draining(bool draining) { draining_ = draining; }
  // Sets the function that wakes the writer thread after a chunk was handed over.
  void on_chunk(void (*wake)(void*), void* context) {
    wake_ = wake;
    wake_context_ = context;
  }
  // True: a draining thread may pass large records to the sink without a copy.
  bool takes_through() const { return filter_self_ == nullptr; }
  // Sets how long a sink may accept nothing before it is given up. [any] but [signal]
  void set_stall(uint64_t ns) { stall_ns_.store(ns, std::memory_order_relaxed); }
  // Drops everything from now on, without a message. [any] but [signal]
  void give_up() { failed_.store(true, std::memory_order_release); }
  // Closes only the sink of a truncated output. [writer] not writing
  void close_sink() { end_sink(false); }
  // The unit that a thread is inside, and the function in *function; nullptr: none. [any]
  const hprof_host* inside(const char** function) const;
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  // True: a report was written to this output.
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
  const char* reason_of(const hprof_host* host, UnitText& text) const;
  void gave_back(const hprof_host* host) const;
  hprof_status open_units(MemoryAccount& memory, uint32_t sequence, bool check_only, char* error,
                          uint32_t error_size);
  hprof_status create_encoder(UnitText& why);
  hprof_status next_chunk();
  bool is_at_in_window();
  bool is_window_kept();
  void end_sink(bool complete);
  void begin_chunk();
  bool write_chunk(const ChunkQueue::Chunk& chunk);
  bool write_bytes(const uint8_t* bytes, uint64_t size);
  void track_dump(const hprof_record& record);
  bool is_too_slow(uint64_t spent_ns, uint64_t taken);
  hprof_status open_filter(char* error, uint32_t error_size);
  bool is_filtered(hprof_status status);
  void finish_filter();
  static hprof_status pass(void* self, const uint8_t* bytes, uint64_t size);

  OutputUnits units_ = {};
  OutputPlan plan_;
  void* encoder_self_ = nullptr;
  void* sink_self_ = nullptr;
  void* filter_self_ = nullptr;
  hprof_report_info report_ = {};  // the report that the sink is inside; size 0: none
  OutputDefinitions definitions_;
  ChunkQueue chunks_;
  Out out_ = {};
  uint64_t definition_time_us_ = 0;
  uint64_t encoded_ = 0;  // bytes of chunks before the current one
  bool draining_ = false;
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> stall_ns_{0};
  std::atomic<bool> in_dump_{false};
  std::atomic<uint64_t> dump_bytes_{0};  // bytes that the sink took, and nanoseconds spent in it
  std::atomic<uint64_t> dump_ns_{0};
  InsideMark in_encoder_{nullptr};
  InsideMark in_filter_{nullptr};
  InsideMark in_sink_{nullptr};
  std::atomic<uint64_t> bytes_written_{0};
  void (*wake_)(void*) = nullptr;
  void* wake_context_ = nullptr;
};

}  // namespace hprof
