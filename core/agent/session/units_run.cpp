// Starts and stops the collectors of a session, and the VM's events with them.
#include <cstdio>
#include <initializer_list>

#include "core/agent/session/log.h"
#include "core/agent/session/memory_plan.h"
#include "core/agent/session/reports.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/class_book.h"
#include "core/agent/vm/class_files.h"
#include "core/agent/vm/class_rewriter.h"
#include "core/agent/vm/thread_book.h"
#include "core/agent/vm/unload_watch.h"
#include "core/base/atomic.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

// A callback that takes longer counts as one that never returns; a shorter time when the process exits,
// perhaps inside one.
constexpr int64_t kCallbackNs = 10 * platform::kNanosPerSecond;
constexpr int64_t kCallbackAtExitNs = platform::kNanosPerSecond;

}  // namespace

// While nothing collects, only the ends of threads that have a record are needed.
uint64_t Units::events_wanted() const {
  // A unit compiled for a later core may want more.
  constexpr uint64_t kKnownEvents = (1ull << HPROF_EVENT_COUNT) - 1;
  constexpr uint64_t kFromTheStart = kEventVmStart | kEventClassFileLoad;
  uint64_t events = 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].running) events |= collectors_[i].unit->events & kKnownEvents;
  }
  // A class loaded without probes never gets them. With late probes, requesting class files now would switch
  // the CDS archive off.
  if (parts_.rewriter.is_active())
    events |=
        parts_.rewriter.is_late() && parts_.phase() != SessionPhase::kLive ? kEventVmStart : kFromTheStart;
  if (parts_.class_files.has_handlers()) events |= kEventClassFileLoad;
  if (is_collecting()) events |= HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END;
  if (parts_.threads.has_records()) events |= HPROF_EVENT_THREAD_END;
  // With this capability other events come on virtual threads, too, whose records are freed at their end.
  if ((is_collecting() || parts_.threads.has_records()) &&
      (settings_.granted & HPROF_NEED_VIRTUAL_THREADS) != 0) {
    events |= HPROF_EVENT_VIRTUAL_THREAD_END;
  }
  if (parts_.classes.is_kept()) events |= HPROF_EVENT_CLASS_PREPARE | HPROF_EVENT_GC_FINISH;
  if (parts_.unloads.is_on() && is_collecting()) events |= HPROF_EVENT_GC_FINISH;
  if ((events & HPROF_EVENT_GC_FINISH) != 0 && parts_.hotspot.collection_hook() != nullptr)
    events |= HPROF_EVENT_GC_START;
  if ((events & HPROF_EVENT_CLASS_UNLOAD) != 0) events |= HPROF_EVENT_CLASS_PREPARE;
  return events;
}

bool Units::enable_events() {
  platform::MutexLock hold(events_lock_);
  uint64_t events = events_wanted();
  uint64_t failed = 0;
  EventHub::hook_collections(parts_.jvmti, parts_.hotspot.collection_hook());
  const uint64_t refused = events_.enable(parts_.jvmti, events, &failed);
  parts_.classes.follow_collections((events & ~refused & HPROF_EVENT_GC_FINISH) != 0);
  for (uint32_t bit = 0; bit < kEventCount; bit++) {
    if ((events >> bit & 1) == 0) continue;
    char text[120];
    const bool is_refused = (refused >> bit & 1) != 0;
    snprintf(text, sizeof(text), "event %s%s", event_name(bit), is_refused ? " refused by the VM" : "");
    // Events that the VM does not support and the unit can do without are refused every time.
    (failed >> bit & 1) != 0 ? parts_.log.say(text) : parts_.log.detail(text);
  }
  return failed == 0;
}

bool Units::is_collecting() const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].running) return true;
  }
  return false;
}

// Before the first collector starts: makes records of all threads, whose events keep them up to date.
void Units::prepare_to_collect(JNIEnv* jni) {
  if (is_collecting()) return;
  // Native ids are read from the VM's structures, under the fault guard, since threads may end meanwhile. The
  // guard is installed for these reads only: with -Xcheck:jni the VM warns about foreign signal handlers.
  const bool is_guarded = platform::install_fault_guard() == 0;
  parts_.threads.enumerate(jni, parts_.hotspot.thread_ids());
  parts_.hotspot.prepare_to_collect();
  const char* why = nullptr;
  if (const auto* contexts = parts_.threads.contexts.of_virtual)
    contexts->open(&collectors_[0].host, jni, &why);
  if (is_guarded) platform::uninstall_fault_guard();
}

void Units::keep_for_starts(const CollectorSlot* slot) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < collector_count_; i++) bytes += collectors_[i].start_bytes;
  parts_.memory.hold_for_starts(bytes, slot != nullptr ? slot->start_bytes : 0);
}

bool Units::start(CollectorSlot& slot, JNIEnv* jni) {
  if (slot.running) return true;
  if (is_gone(slot)) return false;
  prepare_to_collect(jni);
  if ((slot.needs() & HPROF_NEED_METHOD_BOOK) != 0) parts_.classes.keep(jni);
  slot.running = true;
  slot.gate.open();
  enable_events();
  if ((slot.unit->events & HPROF_EVENT_CLASS_UNLOAD) != 0) parts_.classes.watch_loaded(jni);
  if (!slot.has_data) slot.began = Instant::now();
  Inside mark(slot.inside, "start", tag::kControl);
  const MemoryTurn::Hold turn(parts_.turn, MemoryAccount::kStart);
  keep_for_starts(&slot);
  const hprof_status status = slot.ops->start(slot.self);
  slot.start_bytes = 0;
  keep_for_starts();
  if (status == HPROF_OK) {
    slot.has_data = slot.unreported = true;
    slot.dumped = false;
    parts_.reports.begin_windows();
    return true;
  }
  end(slot);
  settle_events();
  char text[120];
  snprintf(text, sizeof(text), "%s does not run", slot.unit->id);
  parts_.log.say(text);
  return false;
}

void Units::start_all(JNIEnv* jni) {
  for (uint32_t i = 0; i < collector_count_; i++) start(collectors_[i], jni);
}

void Units::stop(CollectorSlot& slot) {
  if (!slot.running) return;
  slot.ended = Instant::now();
  if (end(slot) && slot.dumped) slot.unreported = false;  // a heap dump contains everything
}

bool Units::end(CollectorSlot& slot) {
  slot.running = false;
  if (!slot.gate.close(callback_deadline())) {
    abandon(slot, "a callback");
    return false;
  }
  Inside mark(slot.inside, "stop", tag::kControl);
  slot.ops->stop(slot.self);
  return true;
}

int64_t Units::callback_deadline() const {
  const int64_t longest = hurries_.load(std::memory_order_relaxed) ? kCallbackAtExitNs : kCallbackNs;
  const int64_t most = parts_.setup.exit_timeout_ns() / 3;
  return platform::monotonic_ns() + (most < longest ? most : longest);
}

void Units::abandon(CollectorSlot& slot, const char* what) {
  slot.gone.store(true, std::memory_order_release);
  slot.running = slot.has_data = slot.unreported = false;
  char text[160];
  snprintf(text, sizeof(text), "plugin %s: %s does not return; it is not called again", slot.unit->id, what);
  parts_.log.say(text);
}

void Units::stop_all() {
  for (uint32_t i = 0; i < collector_count_; i++) stop(collectors_[i]);
  if (const auto* contexts = parts_.threads.contexts.of_virtual) contexts->close(&collectors_[0].host);
  settle_events();
}

void Units::settle_events() {
  bool book = false;
  for (uint32_t i = 0; i < collector_count_; i++) {
    const CollectorSlot& slot = collectors_[i];
    book = book || (slot.running && (slot.needs() & HPROF_NEED_METHOD_BOOK) != 0);
  }
  if (!book) parts_.classes.let_go();
  enable_events();
}

uint32_t Units::set_depth(uint32_t depth) {
  if (depth > kDepthMost) depth = static_cast<uint32_t>(kDepthMost);
  store_relaxed(&settings_.depth, depth);
  return depth;
}

bool Units::is_any_gone() const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].self != nullptr && is_gone(collectors_[i])) return true;
  }
  return false;
}

void Units::abandon_all() {
  for (uint32_t i = 0; i < collector_count_; i++) {
    collectors_[i].gone.store(true, std::memory_order_release);
    collectors_[i].gate.close(0);
  }
  for (UnitSlot* slot : {&encoder_, &sink_, &filter_}) slot->gone.store(true, std::memory_order_release);
}

const UnitSlot* Units::inside(const char** function) const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    *function = collectors_[i].inside.load(std::memory_order_relaxed);
    if (*function != nullptr) return &collectors_[i];
  }
  return nullptr;
}

void Units::destroy_collectors() {
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    parts_.reports.forget_windows(slot);
    if (slot.self == nullptr) continue;
    const TagScope scope(tag::kControl);
    slot.ops->destroy(slot.self);
    slot.self = nullptr;
    if constexpr (kChecks) check_given_back(slot);
  }
}

}  // namespace hprof
