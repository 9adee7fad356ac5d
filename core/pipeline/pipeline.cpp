#include "core/pipeline/pipeline.h"

#include <cstdio>

#include <hprof/draft/foreign_dump.h>

#include "core/base/build.h"
#include "core/base/status.h"
#include "core/pipeline/record_check.h"

namespace hprof {

namespace {

// The writer is woken when there is work; this covers a missed wake-up.
constexpr int64_t kIdleWaitNs = 10 * platform::kNanosPerSecond;
// The longest time that events are gathered before they are written.
constexpr int64_t kGatherNs = platform::kNanosPerSecond;
constexpr size_t kWriterStack = 256 * 1024;

uint64_t rows_of(const hprof_record& record) {
  return is_events(record) ? reinterpret_cast<const hprof_rec_table&>(record).row_count : 1;
}

// True: the dump is long, or the encoder may overwrite bytes that the sink has.
bool wants_to_drain(const hprof_record& record) {
  if (record.kind != HPROF_RECORD_FOREIGN_DUMP) return false;
  const auto& foreign = reinterpret_cast<const hprof_rec_foreign_dump&>(record);
  return foreign.size >= HPROF_OUT_LARGE || (foreign.flags & HPROF_FOREIGN_ENDS) != 0;
}

}  // namespace

hprof_status Pipeline::prepare(MemoryAccount& memory, const PipelineConfig& config, char* error,
                               uint32_t error_size) {
  memory_ = &memory;
  config_ = config;
  batches_.open(
      memory,
      [](void* self, hprof_rec_table* batch) {
        batch->created_ms = static_cast<uint64_t>(platform::wall_ms());
        static_cast<Pipeline*>(self)->write_event(&batch->head);
      },
      this);
  if (!events_.create(memory, config.event_slots) ||
      (!kEmbedded && !old_outputs_.open(memory, config.plan.keep))) {
    snprintf(error, error_size, "%s", status_text(HPROF_NO_MEMORY));
    return HPROF_NO_MEMORY;
  }
  return HPROF_OK;
}

hprof_status Pipeline::open_output(bool check_only, char* error, uint32_t error_size) {
  hprof_status status =
      output_.open(*memory_, config_.output, plan_, sequence_ + 1, check_only, error, error_size);
  if (status != HPROF_OK || !output_.is_open()) return status;
  sequence_++;
  output_.set_stall(static_cast<uint64_t>(stall_ns()));
  output_.set_draining(!writer_.started());
  output_.on_chunk([](void* self) { static_cast<Pipeline*>(self)->wake_.signal(); }, this);
  return begin_output();
}

hprof_status Pipeline::open(char* error, uint32_t error_size) {
  if (plan_.none) return HPROF_OK;
  // Connects later, so that a peer cannot delay the VM's start.
  const hprof_status status = open_output(retries(), error, error_size);
  if (!retries() || status == HPROF_OK || status == HPROF_UNSUPPORTED) return status;
  config_.output.say(config_.output.sink_host, error);
  say_tried_again();
  return HPROF_OK;
}

void Pipeline::say_tried_again() {
  said_tried_again_ = true;
  config_.output.say(config_.output.sink_host,
                     "it is tried again while the program runs; net-retry=n refuses to start");
}

bool Pipeline::reconnect() {
  platform::MutexLock encode(encode_lock_);
  if (!is_lost() || stopping_.load(std::memory_order_acquire)) return false;
  const bool is_first = !said_tried_again_;
  if (next_output(is_first)) return true;
  if (is_first) say_tried_again();
  return false;
}

hprof_status Pipeline::begin_output() {
  int64_t now_ms = platform::wall_ms();
  began_ns_ = platform::monotonic_ns();
  has_own_report_ = false;
  hprof_rec_file_begin begin = {{sizeof(begin), HPROF_RECORD_FILE_BEGIN, 0},
                                static_cast<uint64_t>(now_ms),
                                config_.id_size,
                                config_.dumps_heap ? 1u : 0u,
                                only_table_,
                                static_cast<uint64_t>(began_ns_)};
  hprof_status status = output_.write(&begin.head);
  if (status == HPROF_OK || status == HPROF_UNSUPPORTED) status = output_.write(&config_.settings.head);
  // A failed output has printed a message; collectors go on without it.
  return status == HPROF_UNSUPPORTED || output_.failed() ? HPROF_OK : status;
}

bool Pipeline::start() {
  if (plan_.none) return true;
  platform::MutexLock encode(encode_lock_);
  if (writer_.start("hprof writer", kWriterStack, &Pipeline::run, this) != 0) return false;
  output_.set_draining(false);
  return true;
}

uint64_t Pipeline::now_us() const {
  int64_t passed = platform::monotonic_ns() - began_ns_;
  return passed > 0 ? static_cast<uint64_t>(passed) / 1000 : 0;
}

hprof_status Pipeline::event(const hprof_record* record) {
  if (plan_.none) return HPROF_UNSUPPORTED;
  // The time is set at encoding, since readers require times that never decrease.
  if (output_.failed()) {
    config_.losses->add(Loss::kLostOutput, rows_of(*record));
    return HPROF_DROPPED;
  }
  bool fills_quarter = false;
  if (!events_.push(record, &fills_quarter)) {
    config_.losses->add(Loss::kLostRecords, rows_of(*record));
    return HPROF_DROPPED;
  }
  if (fills_quarter || !is_events(*record)) wake_.signal();
  return HPROF_OK;
}

void Pipeline::run(void* self) { static_cast<Pipeline*>(self)->work(); }

// Only tries the encode lock: during a report the events wait in their queue.
void Pipeline::work() {
  while (!stopping_.load(std::memory_order_acquire)) {
    if (encode_lock_.try_lock()) {
      platform::MutexLock drain(drain_lock_);
      write_events();
      encode_lock_.unlock();
    }
    bool wrote;
    do {
      platform::MutexLock drain(drain_lock_);
      wrote = output_.drain();
    } while (wrote);
    wake_.wait(platform::monotonic_ns() + (config_.takes_events ? kGatherNs : kIdleWaitNs));
  }
}

// Called under both locks.
void Pipeline::write_events() {
  if (!output_.is_open() || events_.front() == nullptr) return;
  output_.set_draining(true);
  while (hprof_record* record = events_.front()) {
    if (is_events(*record)) {
      batches_.add(reinterpret_cast<hprof_rec_table*>(record));
    } else {
      write_event(record);
    }
    events_.pop();
  }
  batches_.flush();
  output_.flush();
  output_.set_draining(!writer_.started());
}

void Pipeline::write_event(hprof_record* record) {
  record->time_us = now_us();
  const hprof_status status = without_unsupported(*record, output_.write(record));
  if (status != HPROF_OK) config_.losses->add(Loss::kLostOutput, rows_of(*record));
}

void Pipeline::close_output() {
  platform::MutexLock hold(read_lock_);
  if (!kEmbedded && output_.is_open())
    old_outputs_.add(*memory_, output_.name(), [this](const char* name) { remove_output(name); });
  output_.close(*memory_, true);
}

void Pipeline::remove_output(const char* name) {
  char error[256] = "";
  const OutputUnits& units = config_.output;
  if (units.sink->remove(units.sink_host, units.sink_config, name, error, sizeof(error)) != HPROF_OK)
    units.say(units.sink_host, error);
}

int64_t Pipeline::read(uint8_t* bytes, uint64_t size, uint64_t timeout_ns) {
  platform::MutexLock hold(read_lock_);
  return plan_.duplex && !stopping_.load(std::memory_order_acquire) ? output_.read(bytes, size, timeout_ns)
                                                                    : -1;
}

void Pipeline::end_output() {
  output_.flush();
  wait_until_written(platform::monotonic_ns() + stall_ns());
  platform::MutexLock drain(drain_lock_);
  if (!output_.is_open()) return;
  hprof_record end = {sizeof(end), HPROF_RECORD_FILE_END, now_us()};
  output_.set_draining(true);
  output_.write(&end);
  output_.flush();
  output_.set_draining(!writer_.started());
  close_output();
}

bool Pipeline::next_output(bool says_why) {
  end_output();
  platform::MutexLock drain(drain_lock_);
  char error[256];
  const int64_t began = kHasSockets ? platform::monotonic_ns() : 0;
  if (open_output(false, error, sizeof(error)) == HPROF_OK) return true;
  if (kHasSockets) next_try_ns_ = 2 * platform::monotonic_ns() - began;
  if (says_why) config_.output.say(config_.output.sink_host, error);
  return false;
}

// At once and not with the next report, so that a reader that waits for the file finds it complete.
void Pipeline::renew_output() {
  if (plan_.none || !plan_.each_round) return;
  platform::MutexLock encode(encode_lock_);
  if (output_.has_report) next_output();
}

bool Pipeline::acquire(bool for_reports) {
  encode_lock_.lock();
  if (plan_.none) return true;
  // Retries an output that could not be opened: its folder may have been missing for a moment.
  if (for_reports && plan_.each_round && (output_.has_report || !output_.is_open())) next_output();
  if (is_lost() && platform::monotonic_ns() >= next_try_ns_) next_output();
  if (!output_.is_open() || output_.failed()) {
    encode_lock_.unlock();
    wake_.signal();
    return false;
  }
  {
    platform::MutexLock drain(drain_lock_);
    write_events();
  }
  output_.has_report = output_.has_report || for_reports;
  return true;
}

// Border records that the encoder does not take are not counted as lost.
void Pipeline::write_border(uint32_t kind, const hprof_report_info& info, hprof_status status) {
  last_time_us_ = now_us();
  const hprof_rec_report record = {{sizeof(record), kind, last_time_us_}, &info, status, 0};
  output_.write(&record.head);
}

// False: the sink has no begin_report. The encode lock is held, so nothing is written meanwhile.
bool Pipeline::settle_for_sink() {
  if (!output_.is_open() || !plan_.marks_reports) return false;
  output_.flush();
  return wait_until_written(platform::kNoDeadline);
}

bool Pipeline::finish_report_output() {
  if (!has_own_report_ || !output_.is_open()) return false;
  end_output();
  return !output_.failed();
}

void Pipeline::begin_report(const hprof_report_info& info) {
  if (plan_.none) return;
  if (has_own_report_ && next_output()) output_.has_report = true;
  has_own_report_ = plan_.each_report;
  if (settle_for_sink()) {
    platform::MutexLock drain(drain_lock_);
    if (has_whole_reports()) output_.renew_encoder(*memory_);
    output_.begin_report(info);
  }
  if (has_whole_reports()) begin_output();
  has_table_ = lacks_stacks_ = false;
  write_border(HPROF_RECORD_REPORT_BEGIN, info, HPROF_OK);
}

void Pipeline::end_report(const hprof_report_info& info, hprof_status status) {
  if (plan_.none) return;
  const bool is_empty = !kEmbedded && !has_table_ &&
                        (lacks_stacks_ || encoder_has(HPROF_ENCODER_STACKS | HPROF_ENCODER_DOCUMENTS));
  if (is_empty && lacks_stacks_) say_without_stacks(info);
  write_border(HPROF_RECORD_REPORT_END, info, status);
  if (has_whole_reports()) {
    hprof_record end = {sizeof(end), HPROF_RECORD_FILE_END, now_us()};
    output_.write(&end);
  }
  if (!settle_for_sink()) return;
  platform::MutexLock drain(drain_lock_);
  // An encoder that keeps events for reports writes nothing for one without any.
  output_.end_report(status == HPROF_OK && !(is_empty && !plan_.keeps_encoder));
}

// Objects of a heap dump, millions of them, get the time of the last other record.
hprof_status Pipeline::write(hprof_record* record) {
  if (plan_.none) return record->kind == HPROF_RECORD_NOTE ? HPROF_OK : HPROF_UNSUPPORTED;
  if (record->kind < HPROF_RECORD_HEAP_ROOT || record->kind > HPROF_RECORD_FOREIGN_DUMP)
    last_time_us_ = now_us();
  record->time_us = last_time_us_;
  hprof_status status =
      wants_to_drain(*record) && output_.takes_through() ? write_through(record) : output_.write(record);
  if (!kEmbedded && record->kind == HPROF_RECORD_TABLE) {
    if (status == HPROF_OK) has_table_ = true;
    if (status == HPROF_UNSUPPORTED && encoder_has(HPROF_ENCODER_STACKS)) lacks_stacks_ = true;
  }
  return without_unsupported(*record, status);
}

bool Pipeline::encoder_has(uint32_t flags) const {
  const hprof_encoder_ops* encoder = config_.output.encoder;
  return HPROF_REACHES(encoder, hprof_encoder_ops, flags) && (encoder->flags & flags) == flags;
}

// Prints the message once: later reports are the same.
void Pipeline::say_without_stacks(const hprof_report_info& info) {
  if (said_without_stacks_) return;
  said_without_stacks_ = true;
  char text[256];
  snprintf(
      text, sizeof(text),
      "%s: nothing in its report has stacks, and this format has no place for anything else; use another "
      "format=",
      info.unit);
  config_.output.say(config_.output.sink_host, text);
}

// A record that the format cannot express is left out; the rest of the report is written. Collectors' data
// counts as lost, definitions, threads and notes do not.
hprof_status Pipeline::without_unsupported(const hprof_record& record, hprof_status status) {
  if (status != HPROF_UNSUPPORTED) return status;
  if (record.kind >= HPROF_RECORD_TABLE) config_.losses->add(Loss::kLostFormat);
  return HPROF_OK;
}

// During the VM's own dump the thread that reads it also writes: no other needs a processor.
hprof_status Pipeline::write_through(const hprof_record* record) {
  platform::MutexLock drain(drain_lock_);
  output_.set_draining(true);
  const hprof_status status = output_.write(record);
  output_.set_draining(!writer_.started());
  return status;
}

hprof_status Pipeline::define(uint32_t kind, uint32_t id) {
  if (plan_.none) return HPROF_OK;
  last_time_us_ = now_us();
  return output_.define(kind, id, last_time_us_);
}

void Pipeline::release() {
  if (!plan_.none) output_.flush();
  if (output_.is_open() && plan_.each_dump) {
    // A full disk may show only at the last bytes; the sink then removes the file.
    wait_until_written(platform::kNoDeadline);
    platform::MutexLock drain(drain_lock_);
    if (output_.failed()) output_.close(*memory_, false);
  }
  encode_lock_.unlock();
  wake_.signal();
}

// Ends in any case: a sink that accepts nothing fails its output.
bool Pipeline::settle(bool ends_soon) {
  if (plan_.none) return true;
  const bool written = wait_until_written(platform::kNoDeadline);
  if (!ends_soon && written && output_.is_open()) {
    platform::MutexLock drain(drain_lock_);
    output_.renew_filter();
  }
  return written && output_.is_open() && !output_.failed();
}

bool Pipeline::wait_until_written(int64_t deadline_ns) {
  for (;;) {
    {
      platform::MutexLock drain(drain_lock_);
      if (!output_.drain()) return true;
    }
    if (platform::monotonic_ns() > deadline_ns) return false;
  }
}

bool Pipeline::finish(int64_t deadline_ns) {
  stopping_.store(true, std::memory_order_release);
  wake_.signal();
  uint64_t before = output_.bytes_written();
  bool ended = !writer_.started() || writer_.join(deadline_ns);
  while (!ended && output_.bytes_written() != before) {
    before = output_.bytes_written();
    ended = writer_.join(platform::monotonic_ns() + stall_ns());
  }
  if (!ended) {
    output_.fail("it takes no more data");  // the writer is inside the sink: both stay until the process ends
    return false;
  }
  encode_lock_.lock();
  if (output_.is_open()) {
    {
      platform::MutexLock drain(drain_lock_);
      write_events();
      output_.set_draining(true);
      hprof_record end = {sizeof(end), HPROF_RECORD_FILE_END, now_us()};
      output_.write(&end);
      output_.flush();
      while (output_.drain()) {
      }
      output_.set_draining(!writer_.started());
    }
    close_output();
  }
  encode_lock_.unlock();
  return true;
}

int64_t Pipeline::stall_ns() const {
  const uint64_t most = most_stall_ns_.load(std::memory_order_relaxed);
  return static_cast<int64_t>(most < config_.output.stall_ns ? most : config_.output.stall_ns);
}

void Pipeline::hurry(uint64_t stall_ns_now) {
  most_stall_ns_.store(stall_ns_now, std::memory_order_relaxed);
  output_.set_stall(static_cast<uint64_t>(stall_ns()));
}

// If a thread inside the sink holds the drain lock, the sink is not closed here.
void Pipeline::cut_short(int64_t deadline_ns) {
  output_.give_up();
  if (!plan_.each_dump) return;
  auto close = [](void* self) {
    auto* own = static_cast<Pipeline*>(self);
    platform::MutexLock drain(own->drain_lock_);
    own->output_.close_sink();
  };
  if (closer_.start("hprof end", kWriterStack, close, this) == 0 && !closer_.join(deadline_ns)) {
    closer_.detach();
  }
}

void Pipeline::destroy() {
  if (memory_ == nullptr) return;
  close_output();
  output_.destroy_encoder();
  if (!kEmbedded) old_outputs_.close(*memory_);
  batches_.close();
  events_.destroy(*memory_);
}

}  // namespace hprof
