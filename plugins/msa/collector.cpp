// The msa=y collector.
#include "plugins/msa/collector.h"

#include <cstring>

#include <hprof/cpp/text_line.hpp>

namespace hprof::msa {

hprof_status Collector::open(const hprof_host* host) {
  services_ = Services(host);
  accounting_ = find_service<hprof_accounting_service>(host, HPROF_SERVICE_ACCOUNTING);
  if (accounting_ == nullptr) {
    services_.log->message(host, "msa=y: this system keeps no books about threads");
    return HPROF_UNSUPPORTED;
  }
  fields_[0] = {"thread", HPROF_FIELD_THREAD, 0};
  hprof_accounting_column column = {};
  while (columns_ < HPROF_ACCOUNTING_COLUMNS && accounting_->column(host, columns_, &column) != 0) {
    // Signed: -1 where a thread has no such value.
    TextLine<kNameBytes> name;
    name.text(column.name).text(column.nanoseconds != 0 ? "_ns" : "");
    memcpy(names_[columns_], name.c_str(), kNameBytes);
    fields_[columns_ + 1] = {names_[columns_], HPROF_FIELD_INT, 0};
    columns_++;
  }
  schema_ = {sizeof(hprof_schema), columns_ + 1, "MICROSTATES", fields_};
  kind_ = services_.emit->vendor_kind(host, &schema_);
  lost_ = services_.log->loss_counter(host, "threads that ended: no room for their times (msa=y)");
  return kind_ != 0 ? HPROF_OK : HPROF_FAILED;
}

void Collector::close() {
  for (Chunk*& chunk : chunks_) {
    services_.release(chunk, 1);
    chunk = nullptr;
  }
}

hprof_status Collector::start() {
  if (accounting_->start(services_.host) != HPROF_OK) {
    services_.log->message(services_.host, "msa=y: the system refuses to account for microstates");
  }
  return HPROF_OK;
}

// --- threads that end

void Collector::lock() {
  while (taken_.exchange(1, std::memory_order_acquire) != 0) {
  }
}

// The memory is there before the lock is taken.
bool Collector::keep(const Row& row) {
  const uint32_t number = ended_.load(std::memory_order_relaxed) / kRowsOfChunk;
  Chunk* spare = number < kMostChunks && __atomic_load_n(&chunks_[number], __ATOMIC_RELAXED) == nullptr
                     ? services_.allocate<Chunk>(1)
                     : nullptr;
  lock();
  const uint32_t index = ended_.load(std::memory_order_relaxed);
  const uint32_t chunk = index / kRowsOfChunk;
  const bool fits = chunk < kMostChunks && (chunks_[chunk] != nullptr || spare != nullptr);
  if (fits) {
    if (chunks_[chunk] == nullptr) {
      __atomic_store_n(&chunks_[chunk], spare, __ATOMIC_RELAXED);
      spare = nullptr;
    }
    chunks_[chunk]->rows[index % kRowsOfChunk] = row;
    ended_.store(index + 1, std::memory_order_release);
  }
  unlock();
  services_.release(spare, 1);
  return fits;
}

void Collector::thread_end(const hprof_thread* thread) {
  if ((thread->flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) != 0 || thread->os_id == 0) return;
  Row row = {};
  row.serial = thread->serial;
  if (accounting_->read(services_.host, thread->os_id, row.values) == HPROF_OK && keep(row)) return;
  if (lost_ != nullptr) __atomic_fetch_add(lost_, 1, __ATOMIC_RELAXED);
}

void Collector::reset() {
  lock();
  ended_.store(0, std::memory_order_release);
  unlock();
}

// --- report

hprof_status Collector::write(const Row& row) {
  hprof_rec_vendor record = {};
  record.head = {sizeof(record), kind_, 0};
  record.schema = &schema_;
  record.values[0].u = row.serial;
  for (uint32_t i = 0; i < columns_; i++) {
    const bool known = row.values[i] != HPROF_NOT_ACCOUNTED;
    record.values[i + 1].i = known ? static_cast<int64_t>(row.values[i]) : -1;
    if (known) known_ |= 1u << i;
  }
  return services_.emit->write(services_.host, &record.head);
}

uint32_t Collector::visit(void* self, hprof_thread* thread, void*) {
  auto* collector = static_cast<Collector*>(self);
  if ((thread->flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) != 0 || thread->os_id == 0) return 1;
  Row row = {};
  row.serial = thread->serial;
  const Services& s = collector->services_;
  if (collector->accounting_->read(s.host, thread->os_id, row.values) != HPROF_OK) return 1;
  collector->status_ = collector->write(row);
  return collector->status_ == HPROF_ABORTED ? 0 : 1;
}

hprof_status Collector::say(const char* text) {
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, strlen(text)}};
  hprof_status status = services_.emit->write(services_.host, &note.head);
  // An encoder without notes.
  if (status != HPROF_UNSUPPORTED) return status;
  services_.log->message(services_.host, text);
  return HPROF_OK;
}

hprof_status Collector::say_what_is_missing() {
  for (uint32_t i = 0; i < columns_; i++) {
    hprof_accounting_column column = {};
    if ((known_ >> i & 1) != 0 || accounting_->column(services_.host, i, &column) == 0) continue;
    TextLine<240> line;
    line.text("msa: ").text(column.name).text(" (").text(column.help).text(") is not accounted here now: -1");
    hprof_status status = say(line.c_str());
    if (status != HPROF_OK) return status;
  }
  const char* missing = accounting_->missing(services_.host);
  if (missing[0] == '\0') return HPROF_OK;
  TextLine<240> line;
  return say(line.text("msa: not kept by this system: ").text(missing).c_str());
}

hprof_status Collector::report() {
  known_ = 0;
  status_ = HPROF_OK;
  const uint32_t ended = ended_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ended && status_ != HPROF_ABORTED; i++) {
    status_ = write(chunks_[i / kRowsOfChunk]->rows[i % kRowsOfChunk]);
  }
  if (status_ != HPROF_ABORTED) services_.threads->each(services_.host, nullptr, this, &Collector::visit);
  if (status_ == HPROF_ABORTED) return status_;
  // The binary encoder leaves records out that its readers do not know.
  if (status_ == HPROF_UNSUPPORTED) {
    services_.log->message(services_.host, "msa=y: this output format has no place for it");
    return HPROF_OK;
  }
  return say_what_is_missing();
}

}  // namespace hprof::msa
