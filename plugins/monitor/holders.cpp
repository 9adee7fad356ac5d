#include "holders.h"

#include <cstring>

#include <hprof/cpp/note.hpp>

#include "blocked_notes.h"

namespace hprof::monitor {

bool ask_owner(const Services& services, jvmtiEnv* jvmti, JNIEnv* jni, jobject monitor,
               hprof_thread_serial* owner, uint32_t* entry_count, jthread* ref) {
  jvmtiMonitorUsage usage;
  memset(&usage, 0, sizeof usage);
  *owner = *entry_count = 0;
  if (jvmti->GetObjectMonitorUsage(monitor, &usage) != JVMTI_ERROR_NONE) return false;
  if (usage.owner != nullptr) {
    *owner = services.threads->serial_of(services.host, usage.owner);
    *entry_count = static_cast<uint32_t>(usage.entry_count);
    if (*owner == 0) *owner = HPROF_OWNER_UNKNOWN;
    if (ref == nullptr) jni->DeleteLocalRef(usage.owner);
  }
  if (ref != nullptr) *ref = usage.owner;
  for (jint i = 0; i < usage.waiter_count; i++) jni->DeleteLocalRef(usage.waiters[i]);
  for (jint i = 0; i < usage.notify_waiter_count; i++) jni->DeleteLocalRef(usage.notify_waiters[i]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.waiters));
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.notify_waiters));
  return true;
}

bool Holders::open(const Services& services, jvmtiEnv* jvmti) {
  services_ = services;
  jvmti_ = jvmti;
  rows_ = services.allocate<Row>(kRows);
  return rows_ != nullptr;
}

void Holders::close() {
  services_.release(rows_, kRows);
  rows_ = nullptr;
}

void Holders::clear() {
  LockGuard guard(lock_, services_);
  used_ = 0;
}

void Holders::Names::add(hprof_thread_serial thread) {
  for (uint32_t i = 0; i < count; i++) {
    if (kept[i] == thread) return;
  }
  if (count == kNames) {
    others = 1;
  } else {
    kept[count++] = thread;
  }
}

// Not on virtual threads: while the VM looks for an owner, it mounts none.
hprof_thread_serial Holders::ask(JNIEnv* jni, const hprof_thread* thread, jobject object,
                                 hprof_trace_serial trace, hprof_class_serial monitor, uint64_t now) {
  uint64_t next = next_.load(std::memory_order_relaxed);
  if (now < next || (thread->flags & HPROF_THREAD_VIRTUAL) != 0 ||
      !next_.compare_exchange_strong(next, now + kBetweenNs, std::memory_order_relaxed))
    return 0;
  hprof_thread_serial owner = 0;
  uint32_t entry_count = 0;
  if (!ask_owner(services_, jvmti_, jni, object, &owner, &entry_count) || owner == 0 ||
      owner == HPROF_OWNER_UNKNOWN)
    return 0;
  add(trace, monitor, thread->serial, owner);
  return owner;
}

void Holders::add(hprof_trace_serial trace, hprof_class_serial monitor, hprof_thread_serial blocked,
                  hprof_thread_serial owner) {
  if (!lock_.try_lock()) return;
  uint32_t at = 0;
  while (at < used_ && (rows_[at].trace != trace || rows_[at].monitor != monitor)) at++;
  if (at == used_ && used_ < kRows) {
    memset(&rows_[used_++], 0, sizeof(Row));
    rows_[at].trace = trace;
    rows_[at].monitor = monitor;
  }
  if (at < used_) {
    rows_[at].times++;
    rows_[at].blocked.add(blocked);
    rows_[at].owners.add(owner);
  }
  lock_.unlock();
}

bool Holders::copy_row(const hprof_monitor_row& of, Row* row) {
  LockGuard guard(lock_, services_);
  for (uint32_t i = 0; i < used_; i++) {
    if (rows_[i].trace != of.trace || rows_[i].monitor != of.monitor) continue;
    *row = rows_[i];
    return true;
  }
  return false;
}

void Holders::add_names(const Names& names, TextBuffer* note) const {
  for (uint32_t i = 0; i < names.count; i++) {
    if (i != 0) note->add(", ");
    add_thread_name(services_, names.kept[i], note);
  }
  if (names.others != 0) note->add(" and others");
}

hprof_status Holders::write(const MonitorRow* rows, uint64_t count) {
  hprof_status status = HPROF_OK;
  for (uint64_t i = 0; i < count && i < kMostNotes && status == HPROF_OK; i++) {
    Row row;
    if (!copy_row(rows[i], &row)) continue;
    Note note;
    note.add("monitor: rank ").add(i + 1).add(": ");
    add_names(row.blocked, &note);
    note.add(" kept waiting by ");
    add_names(row.owners, &note);
    note.add(" (seen ").add(row.times).add(row.times == 1 ? " time)" : " times)");
    status = write_note(services_, note);
  }
  return status;
}

}  // namespace hprof::monitor
