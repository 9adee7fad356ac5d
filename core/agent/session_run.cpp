// A session while the VM lives: collectors start and stop.
#include <cstdio>

#include "core/agent/session.h"
#include "core/base/atomic.h"
#include "core/base/build.h"

namespace hprof {

namespace {

// A callback that takes longer is taken for one that does not return; sooner when the process exits, perhaps
// inside of one.
constexpr int64_t kCallbackNs = 10 * platform::kNanosPerSecond;
constexpr int64_t kCallbackAtExitNs = platform::kNanosPerSecond;

}  // namespace

void Session::on_vm_init(JNIEnv* jni, jthread thread) {
  phase_.store(Phase::kLive, std::memory_order_release);
  if (setup_.is_without_effect()) return;
  hotspot_.on_vm_init(jni, thread);
  gate_.open();
  if (rewriter_.is_active()) rewriter_.on_vm_init(jni);
  if (rewriter_.is_late()) {
    rewriter_.count_passed(parts_.jvmti, jni);
    enable_events();
    rewriter_.catch_up(parts_.jvmti, jni);
  }
  // What is collected may not take the memory that reports on it, and later starts, need.
  memory_.hold_back(kept_for_reports(memory_.budget(), memory_.budget() - memory_.used()));
  if (!pipeline_.start()) say("can't start the writer thread: the profile is written at the end only");
  if (!control_.start(this, jni)) say("can't start the control thread: no reports on request");
  if (!server_.start(&parts_)) say("can't start a thread for commands: they are not answered");
  if (kHasSockets && pipeline_.is_duplex() && !reader_.start(this)) {
    say("can't start a thread for the peer's commands: they are not read");
  }
  if (setup_.core().start != 0 && control_.acquire(platform::kNoDeadline)) {
    threads_.started(jni, thread, 0);
    start_collectors(jni);
    control_.release();
    if (setup_.core().every != 0) control_.look_again();
  }
}

// --- events

// While idle, only the ends of threads that have a record matter.
uint64_t Session::events_wanted() const {
  constexpr uint64_t kOnceAndForAll = kEventVmStart | kEventClassFileLoad;
  uint64_t events = 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].running) events |= collectors_[i].unit->events;
  }
  // A class that is loaded without probes never gets them. For late probes, asking for class files now would
  // switch the archive off.
  if (rewriter_.is_active())
    events |= rewriter_.is_late() && phase() != Phase::kLive ? kEventVmStart : kOnceAndForAll;
  if (class_files_.has_handlers()) events |= kEventClassFileLoad;
  if (is_collecting()) events |= HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END;
  if (threads_.has_records()) events |= HPROF_EVENT_THREAD_END;
  // With this capability other events come on virtual threads, too: their records are given back at their
  // end.
  if ((is_collecting() || threads_.has_records()) && (settings_.granted & HPROF_NEED_VIRTUAL_THREADS) != 0) {
    events |= HPROF_EVENT_VIRTUAL_THREAD_END;
  }
  if (classes_.is_kept()) events |= HPROF_EVENT_CLASS_PREPARE | HPROF_EVENT_GC_FINISH;
  if (unloads_.is_on() && is_collecting()) events |= HPROF_EVENT_GC_FINISH;
  if ((events & HPROF_EVENT_GC_FINISH) != 0 && hotspot_.wants_collections()) events |= HPROF_EVENT_GC_START;
  if ((events & HPROF_EVENT_CLASS_UNLOAD) != 0) events |= HPROF_EVENT_CLASS_PREPARE;
  return events;
}

bool Session::enable_events() {
  platform::MutexLock hold(events_lock_);
  uint64_t events = events_wanted();
  uint64_t failed = 0;
  const uint64_t refused = events_.enable(parts_.jvmti, events, &failed);
  classes_.follow_collections((events & ~refused & HPROF_EVENT_GC_FINISH) != 0);
  for (uint32_t bit = 0; bit < HPROF_EVENT_COUNT; bit++) {
    if ((events >> bit & 1) == 0) continue;
    char text[120];
    const bool is_refused = (refused >> bit & 1) != 0;
    snprintf(text, sizeof(text), "event %s%s", event_name(bit), is_refused ? " refused by the VM" : "");
    // Events that a VM does not support, and that the unit can do without, are refused every time.
    (failed >> bit & 1) != 0 ? say(text) : say_detail(text);
  }
  return failed == 0;
}

void Session::tidy(JNIEnv* jni) {
  classes_.sweep(jni);
  const uint32_t collections = classes_.collections();
  if (!unloads_.is_on() || collections == unloads_swept_at_) return;
  unloads_swept_at_ = collections;
  unloads_.sweep(jni, this,
                 [](void* self, uint32_t serial) { static_cast<Session*>(self)->on_class_gone(serial); });
}

void Session::on_class_gone(uint32_t serial) {
  tell_class_unload(this, serial);
  if (!records_unloads()) return;
  const hprof_rec_definition record = {{sizeof(record), HPROF_RECORD_CLASS_UNLOAD, 0}, serial, 0};
  pipeline_.event(&record.head);
}

// --- starting and stopping

bool Session::is_collecting() const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (collectors_[i].running) return true;
  }
  return false;
}

// While anything collects, threads are known by their events.
void Session::prepare_to_collect(JNIEnv* jni) {
  if (is_collecting()) return;
  // Native ids are read from the VM's structures, guarded against threads that end meanwhile. The guard is
  // held only during the reads: under -Xcheck:jni the VM warns of foreign signal handlers.
  const bool is_guarded = platform::install_fault_guard() == 0;
  threads_.enumerate(jni, hotspot_.thread_ids());
  hotspot_.prepare_to_collect();
  if (is_guarded) platform::uninstall_fault_guard();
}

bool Session::start_collector(CollectorSlot& slot, JNIEnv* jni) {
  if (slot.running) return true;
  if (is_gone(slot)) return false;
  prepare_to_collect(jni);
  if ((slot.needs() & HPROF_NEED_METHOD_BOOK) != 0) classes_.keep(jni);
  slot.running = true;
  slot.gate.open();
  enable_events();
  if ((slot.unit->events & HPROF_EVENT_CLASS_UNLOAD) != 0) classes_.watch_loaded(jni);
  if (!slot.has_data) slot.began = Instant::now();
  Inside mark(slot.inside, "start", tag::kControl);
  const MemoryFirst first(*this, MemoryAccount::kStart);
  if (slot.ops->start(slot.self) == HPROF_OK) {
    slot.has_data = slot.unreported = true;
    slot.dumped = false;
    begin_windows();
    return true;
  }
  slot.running = false;
  if (!slot.gate.close(callback_deadline())) abandon_collector(slot, "a callback");
  settle_events();
  char text[120];
  snprintf(text, sizeof(text), "%s does not run", slot.unit->id);
  say(text);
  return false;
}

void Session::start_collectors(JNIEnv* jni) {
  for (uint32_t i = 0; i < collector_count_; i++) start_collector(collectors_[i], jni);
}

void Session::stop_collector(CollectorSlot& slot) {
  if (!slot.running) return;
  slot.running = false;
  slot.ended = Instant::now();
  if (!slot.gate.close(callback_deadline())) return abandon_collector(slot, "a callback");
  Inside mark(slot.inside, "stop", tag::kControl);
  slot.ops->stop(slot.self);
  if (slot.dumped) slot.unreported = false;  // a dump contains everything
}

int64_t Session::callback_deadline() const {
  const int64_t longest = by_exit_.load(std::memory_order_relaxed) ? kCallbackAtExitNs : kCallbackNs;
  const int64_t most = exit_timeout_ns() / 3;
  return platform::monotonic_ns() + (most < longest ? most : longest);
}

void Session::abandon_collector(CollectorSlot& slot, const char* what) {
  slot.gone.store(true, std::memory_order_release);
  slot.running = slot.has_data = slot.unreported = false;
  char text[160];
  snprintf(text, sizeof(text), "plugin %s: %s does not return; it is not called again", slot.unit->id, what);
  say(text);
}

void Session::stop_collectors() {
  for (uint32_t i = 0; i < collector_count_; i++) stop_collector(collectors_[i]);
  settle_events();
}

void Session::settle_events() {
  bool book = false;
  for (uint32_t i = 0; i < collector_count_; i++) {
    const CollectorSlot& slot = collectors_[i];
    book = book || (slot.running && (slot.needs() & HPROF_NEED_METHOD_BOOK) != 0);
  }
  if (!book) classes_.let_go();
  enable_events();
}

uint32_t Session::set_depth(uint32_t depth) {
  if (depth > kDepthMost) depth = static_cast<uint32_t>(kDepthMost);
  store_relaxed(&settings_.depth, depth);
  return depth;
}

}  // namespace hprof
