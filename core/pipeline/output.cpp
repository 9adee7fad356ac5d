#include "core/pipeline/output.h"

#include <cstdio>

#include <hprof/draft/foreign_dump.h>

#include "core/base/status.h"
#include "core/base/unit_text.h"

namespace hprof {

namespace {

constexpr uint64_t kLeastBytesPerMs = 1024 * 1024 / 1000;  // of a sink during a heap dump
constexpr size_t kReadGuard = 16;
constexpr size_t kHostNameMost = 256;
constexpr uint32_t kWriterEnd = tag::kWriter | tag::kControl;
constexpr uint32_t kOpening = tag::kOnLoad | tag::kControl;
constexpr uint64_t kSinkSliceNs =
    100 * 1000 * 1000;  // one wait for a slow sink; the loop adds them up to stall_ns

// Why a unit of the output did not start: its own reason, or what its status says.
void put_why(char* error, uint32_t error_size, const char* unit, hprof_status status, const char* reason) {
  if (status == HPROF_OK || reason[0] != '\0') {
    snprintf(error, error_size, "%s", reason);
  } else {
    snprintf(error, error_size, "the %s did not start: %s", unit, status_text(status));
  }
}

}  // namespace

hprof_status Output::open(MemoryAccount& memory, const OutputUnits& units, const OutputPlan& plan,
                          uint32_t sequence, bool check_only, char* error, uint32_t error_size) {
  units_ = units;
  plan_ = plan;
  failed_.store(false, std::memory_order_relaxed);
  set_stall(units.stall_ns);
  has_report = false;
  encoded_ = 0;
  bytes_written_.store(0, std::memory_order_relaxed);
  hprof_status status = open_units(memory, sequence, check_only, error, error_size);
  if (status != HPROF_OK || sink_self_ == nullptr) {
    close(memory, false);
    return status;
  }
  out_.base.size = sizeof(hprof_out);
  out_.base.more = &Output::more;
  out_.base.through = &Output::through;
  if (kHasHeapDump) {
    out_.base.position = &Output::position;
    out_.base.patch = plan_.patches ? &Output::patch : nullptr;
  }
  out_.owner = this;
  begin_chunk();
  return HPROF_OK;
}

// The sink is opened last: it may replace an existing file.
hprof_status Output::open_units(MemoryAccount& memory, uint32_t sequence, bool check_only, char* error,
                                uint32_t error_size) {
  if (!definitions_.create(memory, units_.encoder_host, units_.most_numbers, &Output::write_definition,
                           this) ||
      !chunks_.create(memory, units_.chunks, units_.chunk_bytes)) {
    snprintf(error, error_size, "%s", status_text(HPROF_NO_MEMORY));
    return HPROF_NO_MEMORY;
  }
  hprof_status status = open_filter(error, error_size);
  if (status != HPROF_OK) return status;
  UnitText why;
  status = create_encoder(why);
  put_why(error, error_size, "encoder", status, reason_of(units_.encoder_host, why));
  if (status != HPROF_OK) return status;
  if (units_.may_open != nullptr && !units_.may_open(units_.sink_host, error, error_size))
    return HPROF_NO_MEMORY;
  char host_name[kHostNameMost] = "";
  if (!kHasSockets || platform::host_name(host_name, sizeof(host_name)) == 0) host_name[0] = '\0';
  const bool has_suffix = HPROF_HAS(units_.encoder, hprof_encoder_ops, file_suffix);
  const bool filter_has = !kEmbedded && HPROF_HAS(units_.filter, hprof_filter_ops, file_suffix);
  const hprof_sink_target target = {sizeof(target),
                                    sequence,
                                    units_.address,
                                    units_.force,
                                    plan_.each_dump ? 1u : 0u,
                                    host_name,
                                    check_only ? 1u : 0u,
                                    0,
                                    has_suffix ? units_.encoder->file_suffix : "",
                                    filter_has ? units_.filter->file_suffix : ""};
  Inside mark(in_sink_, "open", kOpening);
  UnitText sink_why;
  status = units_.sink->open(units_.sink_host, units_.sink_config, &target, &sink_self_, sink_why.room(),
                             UnitText::kSize);
  if (status != HPROF_OK) sink_self_ = nullptr;
  put_why(error, error_size, "sink", status, reason_of(units_.sink_host, sink_why));
  return status;
}

const char* Output::reason_of(const hprof_host* host, UnitText& text) const {
  if (!text.is_kept()) units_.complain(host, "it wrote past the end of its error text");
  return text.text();
}

void Output::gave_back(const hprof_host* host) const {
  if (units_.gave_back != nullptr) units_.gave_back(host);
}

int64_t Output::read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
  if (!is_open()) return -1;
  const uint64_t room = kChecks && size > kReadGuard ? size - kReadGuard : size;
  if (room < size) lay_guard(bytes + room, kReadGuard);
  const TagScope scope(tag::kControl);
  const int64_t count = units_.sink->read(sink_self_, bytes, room, timeout_ns);
  if (room < size && !is_guard_intact(bytes + room, kReadGuard)) {
    units_.complain(units_.sink_host, "it wrote past the end of the buffer of its read");
  }
  return count;
}

const hprof_host* Output::inside(const char** function) const {
  // The innermost unit first: an encoder may be waiting for the sink.
  const struct {
    const InsideMark& mark;
    const hprof_host* host;
  } parts[] = {
      {in_sink_, units_.sink_host}, {in_filter_, units_.filter_host}, {in_encoder_, units_.encoder_host}};
  for (const auto& part : parts) {
    *function = part.mark.load(std::memory_order_relaxed);
    if (*function != nullptr) return part.host;
  }
  return nullptr;
}

const char* Output::name() const {
  const char* name = is_open() ? units_.sink->name(sink_self_) : nullptr;
  return name != nullptr ? name : units_.address;
}

void Output::fail(const char* why, const char* where) {
  if (failed_.exchange(true, std::memory_order_acq_rel)) return;
  char text[512];
  snprintf(text, sizeof(text), "can't write to %s: %s; the rest of the profile is lost, the program goes on",
           where, why);
  units_.say(units_.sink_host, text);
}

void Output::begin_chunk() {
  ChunkQueue::Chunk& chunk = chunks_.current();
  out_.base.at = chunk.bytes;
  out_.base.end = chunk.bytes + chunks_.chunk_bytes();
}

bool Output::is_at_in_window() {
  const uint8_t* begin = chunks_.current().bytes;
  const uint8_t* end = begin + chunks_.chunk_bytes();
  return out_.base.at >= begin && out_.base.at <= end && out_.base.end == end;
}

// False: the encoder wrote outside of its buffer.
bool Output::is_window_kept() {
  if (is_at_in_window() && chunks_.is_intact(chunks_.current())) return true;
  if (!failed()) units_.complain(units_.encoder_host, "it wrote outside of the buffer that it was given");
  fail("the encoder wrote outside of its buffer");
  begin_chunk();
  return false;
}

hprof_status Output::next_chunk() {
  if (failed()) return HPROF_ABORTED;
  if (!is_window_kept()) return HPROF_ABORTED;
  ChunkQueue::Chunk& chunk = chunks_.current();
  chunk.used = static_cast<uint32_t>(out_.base.at - chunk.bytes);
  if (chunk.used == 0) return HPROF_OK;
  encoded_ += chunk.used;
  if (draining_) {
    // The writer thread writes older chunks first, then this one, which is then filled again.
    while (drain()) {
    }
    if (!failed()) write_chunk(chunk);
    chunk.used = 0;
  } else {
    int64_t deadline = platform::monotonic_ns() +
                       static_cast<int64_t>(stall_ns_.load(std::memory_order_relaxed)) +
                       platform::kNanosPerSecond;
    if (!chunks_.wait_for_room(deadline)) {
      fail("it takes no more data");
      return HPROF_ABORTED;
    }
    chunks_.hand_over();
    if (wake_ != nullptr) wake_(wake_context_);
  }
  begin_chunk();
  return failed() ? HPROF_ABORTED : HPROF_OK;
}

hprof_status Output::more(hprof_out* out, uint32_t need) {
  Output* self = reinterpret_cast<Out*>(out)->owner;
  if (need > self->chunks_.chunk_bytes()) return HPROF_FAILED;
  return self->next_chunk();
}

hprof_status Output::through(hprof_out* out, const uint8_t* bytes, uint64_t size) {
  Output* self = reinterpret_cast<Out*>(out)->owner;
  if (!self->draining_ || !self->takes_through()) return HPROF_UNSUPPORTED;
  const hprof_status status = self->next_chunk();
  if (status != HPROF_OK) return status;
  while (self->drain()) {  // the current chunk was empty; others may be waiting
  }
  self->encoded_ += size;
  return self->write_bytes(bytes, size) ? HPROF_OK : HPROF_ABORTED;
}

// Bytes encoded so far.
uint64_t Output::position(hprof_out* out) {
  Output* self = reinterpret_cast<Out*>(out)->owner;
  return self->encoded_ + static_cast<uint64_t>(out->at - self->chunks_.current().bytes);
}

// As position(), only from a draining thread: the sink must have the bytes.
hprof_status Output::patch(hprof_out* out, uint64_t position, const void* bytes, uint64_t size) {
  Output* self = reinterpret_cast<Out*>(out)->owner;
  const hprof_sink_ops* sink = self->units_.sink;
  if (!self->draining_) return HPROF_UNSUPPORTED;
  hprof_status status = self->next_chunk();
  while (status == HPROF_OK && self->drain()) {
  }
  if (status != HPROF_OK || self->failed()) return HPROF_ABORTED;
  UnitText error;
  Inside mark(self->in_sink_, "patch", tag::kWriter);
  status = sink->patch(self->sink_self_, position, static_cast<const uint8_t*>(bytes), size, error.room(),
                       UnitText::kSize);
  const char* reason = self->reason_of(self->units_.sink_host, error);
  if (status == HPROF_OK) return HPROF_OK;
  self->fail(reason);
  return HPROF_ABORTED;
}

hprof_status Output::encode(const hprof_record* record) {
  if (failed() || !is_open()) return HPROF_ABORTED;
  if (!units_.taken.takes(*record)) return HPROF_UNSUPPORTED;
  Inside mark(in_encoder_, "encode", tag::kWriter);
  const hprof_status status = units_.encoder->encode(encoder_self_, record, &out_.base);
  if (!is_at_in_window() && !is_window_kept()) return HPROF_ABORTED;
  if (status >= HPROF_OK && status <= HPROF_ABORTED) return status;
  units_.complain(units_.encoder_host, "its encode returned a status that does not exist");
  fail("the encoder failed");
  return HPROF_ABORTED;
}

hprof_status Output::write_definition(void* context, const hprof_record* record) {
  auto* self = static_cast<Output*>(context);
  hprof_rec_definition timed = *reinterpret_cast<const hprof_rec_definition*>(record);
  timed.head.time_us = self->definition_time_us_;
  hprof_status status = self->encode(&timed.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

void Output::track_dump(const hprof_record& record) {
  constexpr uint32_t kIsOver = HPROF_FOREIGN_ENDS | HPROF_FOREIGN_BROKEN;
  const bool is_foreign = record.kind == HPROF_RECORD_FOREIGN_DUMP;
  const bool ends =
      record.kind == HPROF_RECORD_HEAP_DUMP_END ||
      (is_foreign && (reinterpret_cast<const hprof_rec_foreign_dump&>(record).flags & kIsOver) != 0);
  if (ends) {
    in_dump_.store(false, std::memory_order_relaxed);
  } else if ((is_foreign || record.kind == HPROF_RECORD_HEAP_DUMP_BEGIN) &&
             !in_dump_.load(std::memory_order_relaxed)) {
    dump_bytes_.store(0, std::memory_order_relaxed);
    dump_ns_.store(0, std::memory_order_relaxed);
    in_dump_.store(true, std::memory_order_relaxed);
  }
}

// True: the dump has taken too long in total. Any progress resets the other limit, so a peer that takes a few
// bytes now and then would hold the VM for ever.
bool Output::is_too_slow(uint64_t spent_ns, uint64_t taken) {
  if (units_.dump_stall_ns == 0 || !in_dump_.load(std::memory_order_relaxed)) return false;
  const uint64_t ns = dump_ns_.fetch_add(spent_ns, std::memory_order_relaxed) + spent_ns;
  const uint64_t bytes = dump_bytes_.fetch_add(taken, std::memory_order_relaxed) + taken;
  const uint64_t earned = bytes / kLeastBytesPerMs * 1'000'000;
  return ns > units_.dump_stall_ns + (earned < kDumpTotalNs ? earned : kDumpTotalNs);
}

hprof_status Output::write(const hprof_record* record) {
  if (failed()) return HPROF_ABORTED;
  track_dump(*record);
  definition_time_us_ = record->time_us;
  // A report may have defined the thread before the event of its start.
  if (record->kind == HPROF_RECORD_THREAD_START) {
    const auto& start = *reinterpret_cast<const hprof_rec_definition*>(record);
    return start.reserved == kDefinedAgain ? definitions_.define_again(start.id)
                                           : definitions_.define(record->kind, start.id);
  }
  if (!units_.taken.takes(*record)) return HPROF_UNSUPPORTED;
  hprof_status status = definitions_.before(record);
  return status == HPROF_OK ? encode(record) : status;
}

hprof_status Output::define(uint32_t kind, uint32_t id, uint64_t time_us) {
  definition_time_us_ = time_us;
  return definitions_.define(kind, id);
}

void Output::flush() {
  in_dump_.store(false, std::memory_order_relaxed);
  if (is_open() && !failed()) next_chunk();
}

hprof_status Output::open_filter(char* error, uint32_t error_size) {
  if (units_.filter == nullptr) return HPROF_OK;
  Inside mark(in_filter_, "create", kOpening);
  UnitText why;
  const hprof_status status = units_.filter->create(units_.filter_host, units_.filter_config, &filter_self_,
                                                    why.room(), UnitText::kSize);
  if (status != HPROF_OK) filter_self_ = nullptr;
  put_why(error, error_size, "filter", status, reason_of(units_.filter_host, why));
  return status;
}

// A sink that failed has reported it already.
bool Output::is_filtered(hprof_status status) {
  if (status != HPROF_OK)
    fail(status == HPROF_NO_MEMORY ? "there is no memory to compress it" : "it cannot be compressed");
  return status == HPROF_OK;
}

// Passes the filter's remaining bytes to the sink, unless that has failed.
void Output::finish_filter() {
  if (filter_self_ == nullptr) return;
  Inside mark(in_filter_, "finish", kWriterEnd);
  if (is_open() && !failed()) is_filtered(units_.filter->finish(filter_self_, this, &Output::pass));
  units_.filter->destroy(filter_self_);
  filter_self_ = nullptr;
  gave_back(units_.filter_host);
}

hprof_status Output::pass(void* of, const uint8_t* bytes, uint64_t size) {
  auto* self = static_cast<Output*>(of);
  if (bytes == nullptr && size != 0) {
    self->units_.complain(self->units_.filter_host, "it passes on bytes that are not there");
    self->fail("it cannot be compressed");
    return HPROF_ABORTED;
  }
  return self->write_bytes(bytes, size) ? HPROF_OK : HPROF_ABORTED;
}

bool Output::write_chunk(const ChunkQueue::Chunk& chunk) {
  if (filter_self_ == nullptr) return write_bytes(chunk.bytes, chunk.used);
  Inside mark(in_filter_, "write", tag::kWriter);
  return is_filtered(units_.filter->write(filter_self_, chunk.bytes, chunk.used, this, &Output::pass));
}

bool Output::write_bytes(const uint8_t* bytes, uint64_t size) {
  uint64_t done = 0;
  uint64_t waited = 0;
  UnitText error;
  Inside mark(in_sink_, "write", tag::kWriter);
  while (done < size) {
    int64_t begun = platform::monotonic_ns();
    int64_t count = units_.sink->write(sink_self_, bytes + done, size - done, kSinkSliceNs, error.room(),
                                       UnitText::kSize);
    const char* reason = reason_of(units_.sink_host, error);
    if (count > 0 && static_cast<uint64_t>(count) > size - done) {
      units_.complain(units_.sink_host, "its write returned more bytes than it was given");
      fail("the sink does not report how much it wrote");
      return false;
    }
    if (count < 0) {
      fail(reason[0] != '\0' ? reason : "the sink gives no reason");
      return false;
    }
    const int64_t passed = platform::monotonic_ns() - begun;
    const uint64_t spent = passed > 0 ? static_cast<uint64_t>(passed) : 0;
    if (is_too_slow(spent, static_cast<uint64_t>(count))) {
      fail("it is too slow for a heap dump, during which the VM is stopped (dump-stall=)");
      return false;
    }
    if (count == 0) {
      waited += spent;
      if (waited >= stall_ns_.load(std::memory_order_relaxed) || failed()) {
        fail("it takes no more data");
        return false;
      }
      continue;
    }
    waited = 0;
    done += static_cast<uint64_t>(count);
    bytes_written_.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }
  return true;
}

bool Output::drain() {
  if (!is_open()) return false;
  ChunkQueue::Chunk* chunk = chunks_.front();
  if (chunk == nullptr) return false;
  if (!failed()) write_chunk(*chunk);
  chunks_.release_front();
  return true;
}

void Output::renew_encoder(MemoryAccount& memory) {
  if (!is_open() || failed()) return;
  definitions_.destroy();
  if (!plan_.keeps_encoder) destroy_encoder();
  const bool defines =
      definitions_.create(memory, units_.encoder_host, units_.most_numbers, &Output::write_definition, this);
  UnitText error;
  const hprof_status status = create_encoder(error);
  const char* reason = reason_of(units_.encoder_host, error);
  if (status == HPROF_OK && defines) return;
  fail(reason[0] != '\0' ? reason : "there is no memory for the next report");
}

// Unless there is one, which holds events for the next report.
hprof_status Output::create_encoder(UnitText& why) {
  if (encoder_self_ != nullptr) return HPROF_OK;
  Inside mark(in_encoder_, "create", kOpening);
  const hprof_status status = units_.encoder->create(units_.encoder_host, units_.encoder_config,
                                                     &encoder_self_, why.room(), UnitText::kSize);
  if (status != HPROF_OK) encoder_self_ = nullptr;
  return status;
}

void Output::renew_filter() {
  if (filter_self_ == nullptr || failed()) return;
  char error[UnitText::kSize] = "";
  finish_filter();
  if (open_filter(error, sizeof(error)) != HPROF_OK) fail(error);
}

void Output::begin_report(const hprof_report_info& info) {
  if (!is_open() || failed() || report_.size != 0) return;
  renew_filter();  // the remaining bytes belong before the border
  if (failed()) return;
  UnitText error;
  hprof_status status = HPROF_OK;
  if (HPROF_HAS(units_.sink, hprof_sink_ops, begin_report)) {
    Inside mark(in_sink_, "begin_report", kWriterEnd);
    status = units_.sink->begin_report(sink_self_, &info, error.room(), UnitText::kSize);
  }
  const char* reason = reason_of(units_.sink_host, error);
  if (status != HPROF_OK) return fail(reason);
  report_ = info;
}

void Output::end_report(bool complete) {
  if (!is_open() || report_.size == 0) return;
  renew_filter();
  const hprof_report_info info = report_;
  report_ = {};
  if (!HPROF_HAS(units_.sink, hprof_sink_ops, end_report)) return;
  UnitText error;
  Inside mark(in_sink_, "end_report", kWriterEnd);
  const uint32_t is_whole = complete && !failed() ? 1 : 0;
  const hprof_status status =
      units_.sink->end_report(sink_self_, &info, is_whole, error.room(), UnitText::kSize);
  const char* reason = reason_of(units_.sink_host, error);
  if (status != HPROF_OK) fail(reason);
}

void Output::end_sink(bool complete) {
  if (!is_open()) return;
  complete = complete && report_.size == 0;
  end_report(false);
  char where[256];  // copied, since close frees the name
  snprintf(where, sizeof(where), "%s", name());
  UnitText error;
  Inside mark(in_sink_, "close", kWriterEnd);
  const hprof_status status =
      units_.sink->close(sink_self_, complete && !failed(), error.room(), UnitText::kSize);
  const char* reason = reason_of(units_.sink_host, error);
  sink_self_ = nullptr;
  if (status != HPROF_OK) fail(reason, where);
  gave_back(units_.sink_host);
}

void Output::destroy_encoder() {
  if (encoder_self_ != nullptr) {
    const TagScope scope(tag::kControl);
    units_.encoder->destroy(encoder_self_);
    gave_back(units_.encoder_host);
  }
  encoder_self_ = nullptr;
}

void Output::close(MemoryAccount& memory, bool complete) {
  finish_filter();
  end_sink(complete);
  if (!plan_.keeps_encoder) destroy_encoder();
  chunks_.destroy(memory);
  definitions_.destroy();
}

}  // namespace hprof
