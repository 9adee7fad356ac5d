#include "collector.h"

#include <cstring>

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/table.hpp>

namespace hprof::msa {

hprof_status Collector::open(char* error, uint32_t error_size) {
  const hprof_host* host = services_.host;
  accounting_ = find_service<hprof_accounting_service>(host, HPROF_SERVICE_ACCOUNTING);
  if (accounting_ == nullptr) {
    TextBuffer(error, error_size).add("this system has no accounting of threads");
    return HPROF_UNSUPPORTED;
  }
  schema_columns_[0] = {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr};
  hprof_accounting_column column = {};
  column.size = sizeof column;
  while (columns_ < HPROF_ACCOUNTING_COLUMNS && accounting_->column(host, columns_, &column) != 0) {
    // Signed: -1 where a thread has no such value.
    TextLine<kNameBytes> name;
    name.add(column.name).add(column.nanoseconds != 0 ? "_ns" : "");
    memcpy(names_[columns_], name.c_str(), kNameBytes);
    columns_++;
    schema_columns_[columns_] = {
        names_[columns_ - 1], nullptr, HPROF_COLUMN_INT, 0, column.nanoseconds != 0 ? "nanoseconds" : nullptr,
        column.help};
  }
  schema_ = {sizeof(schema_),       columns_ + 1,  sizeof(hprof_column), 0,
             "hprof.microstates/1", "MICROSTATES", schema_columns_};
  lost_ = services_.log->loss_counter(host, "ended threads: no memory for their microstates (max-memory=)");
  return HPROF_OK;
}

bool Collector::close() {
  for (Chunk*& chunk : chunks_) {
    services_.release(chunk, 1);
    chunk = nullptr;
  }
  return true;
}

hprof_status Collector::start() {
  if (accounting_->start(services_.host) != HPROF_OK) {
    services_.log->message(services_.host, "msa=y: the system refuses to account for microstates");
  }
  return HPROF_OK;
}

// Memory is allocated outside of the lock.
bool Collector::keep(const Row& row) {
  const uint32_t number = ended_.load(std::memory_order_relaxed) / kRowsOfChunk;
  Chunk* spare = number < kMostChunks && __atomic_load_n(&chunks_[number], __ATOMIC_RELAXED) == nullptr
                     ? services_.allocate<Chunk>(1)
                     : nullptr;
  bool fits;
  {
    LockGuard guard(lock_, services_);
    const uint32_t index = ended_.load(std::memory_order_relaxed);
    const uint32_t chunk = index / kRowsOfChunk;
    fits = chunk < kMostChunks && (chunks_[chunk] != nullptr || spare != nullptr);
    if (fits) {
      if (chunks_[chunk] == nullptr) {
        __atomic_store_n(&chunks_[chunk], spare, __ATOMIC_RELAXED);
        spare = nullptr;
      }
      chunks_[chunk]->rows[index % kRowsOfChunk] = row;
      ended_.store(index + 1, std::memory_order_release);
    }
  }
  services_.release(spare, 1);
  return fits;
}

void Collector::thread_end(void*, const hprof_thread* thread) {
  if ((thread->flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) != 0 || thread->os_id == 0) return;
  Row row = {};
  row.serial = thread->serial;
  if (accounting_->read(services_.host, thread->os_id, row.values, HPROF_ACCOUNTING_COLUMNS) == HPROF_OK &&
      keep(row))
    return;
  count_loss(lost_);
}

void Collector::reset() {
  LockGuard guard(lock_, services_);
  ended_.store(0, std::memory_order_release);
}

void Collector::Rows::add(const Row& row) {
  if (count == room) {
    left_out++;
    return;
  }
  rows[count++] = row;
  for (uint32_t i = 0; i < HPROF_ACCOUNTING_COLUMNS; i++) {
    if (row.values[i] != HPROF_NOT_ACCOUNTED) known |= 1u << i;
  }
}

// Searches the first `most` rows.
bool Collector::Rows::has(uint64_t serial, uint64_t most) const {
  for (uint64_t i = most < count ? most : count; i != 0; i--) {
    if (rows[i - 1].serial == serial) return true;
  }
  return false;
}

uint32_t Collector::visit(void* context, hprof_thread* thread, void*) {
  auto* rows = static_cast<Rows*>(context);
  if ((thread->flags & (HPROF_THREAD_AGENT | HPROF_THREAD_VIRTUAL)) != 0 || thread->os_id == 0) return 1;
  // A thread that is just ending has its row already.
  if (rows->has(thread->serial, rows->ended)) return 1;
  Row row = {};
  row.serial = thread->serial;
  const Collector& of = *rows->collector;
  if (of.accounting_->read(of.services_.host, thread->os_id, row.values, HPROF_ACCOUNTING_COLUMNS) ==
      HPROF_OK)
    rows->add(row);
  return 1;
}

hprof_status Collector::say_what_is_missing(const Rows& rows) {
  if (rows.left_out != 0) {
    Note line;
    line.add("msa: ").add(rows.left_out).add(" threads are not in the table for want of memory");
    const hprof_status status = write_note(services_, line);
    if (status != HPROF_OK) return status;
  }
  for (uint32_t i = 0; i < columns_; i++) {
    hprof_accounting_column column = {};
    column.size = sizeof column;
    if ((rows.known >> i & 1) != 0 || accounting_->column(services_.host, i, &column) == 0) continue;
    Note line;
    line.add("msa: ").add(column.name).add(" (").add(column.help).add(") is not accounted here now: -1");
    hprof_status status = write_note(services_, line);
    if (status != HPROF_OK) return status;
  }
  const char* missing = accounting_->missing(services_.host);
  if (missing[0] == '\0') return HPROF_OK;
  Note line;
  return write_note(services_, line.add("msa: not kept by this system: ").add(missing));
}

hprof_status Collector::report(const hprof_report&) {
  const Services& s = services_;
  const uint32_t ended = ended_.load(std::memory_order_acquire);
  uint64_t room = ended + kSpareRows;  // spare, for threads that start meanwhile
  s.threads->each(s.host, nullptr, &room, [](void* count, hprof_thread*, void*) {
    ++*static_cast<uint64_t*>(count);
    return 1u;
  });
  Row* memory = s.allocate_most<Row>(&room, kSpareRows);
  if (memory == nullptr) return HPROF_NO_MEMORY;
  Rows rows = {this, memory, room, ended};
  for (uint32_t i = 0; i < ended; i++) rows.add(ended_row(i));
  s.threads->each(s.host, nullptr, &rows, &Collector::visit);
  // Threads that ended meanwhile may not have been visited.
  const uint32_t ended_now = ended_.load(std::memory_order_acquire);
  for (uint32_t i = ended; i < ended_now; i++) {
    if (!rows.has(ended_row(i).serial, rows.count)) rows.add(ended_row(i));
  }
  hprof_rec_table table = table_of(schema_, rows.rows, rows.count);
  table.created_ms = s.clock->wall_ms(s.host);
  const hprof_status status = s.emit->write(s.host, &table.head);
  s.release(rows.rows, room);
  return status == HPROF_OK ? say_what_is_missing(rows) : status;
}

}  // namespace hprof::msa
