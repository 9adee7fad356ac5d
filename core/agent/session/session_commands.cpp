#include "core/agent/session/session_commands.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

#include "core/agent/session/control.h"
#include "core/agent/session/log.h"
#include "core/agent/session/reports.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/capabilities.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"

namespace hprof {

namespace {

// On a thread of its own: System.exit runs shutdown hooks and VMDeath on the calling thread, which waits for
// the control thread.
void JNICALL end_vm(jvmtiEnv*, JNIEnv* jni, void*) {
  jclass system = jni->FindClass("java/lang/System");
  jmethodID exit = system != nullptr ? jni->GetStaticMethodID(system, "exit", "(I)V") : nullptr;
  const jvalue status = {};
  if (exit != nullptr) jni->CallStaticVoidMethodA(system, exit, &status);
  clear_exception(jni);
}

struct HeapSize {
  uint64_t bytes = 0;
  uint64_t objects = 0;
};

jint JNICALL count_object(jlong, jlong size, jlong*, jint, void* data) {
  auto* sum = static_cast<HeapSize*>(data);
  sum->bytes += static_cast<uint64_t>(size);
  sum->objects++;
  return JVMTI_VISIT_OBJECTS;
}

// Walks the heap once, at a safepoint. Unreachable objects that are not collected yet count, too. False: the
// VM refuses.
bool measure_heap(jvmtiEnv* jvmti, HeapSize* size) {
  // IterateThroughHeap requires can_tag_objects although nothing is tagged; it is held only during the walk.
  jvmtiCapabilities held;
  memset(&held, 0, sizeof(held));
  bool borrow = jvmti->GetCapabilities(&held) != JVMTI_ERROR_NONE || held.can_tag_objects == 0;
  if (borrow && add_capabilities(jvmti, HPROF_NEED_TAG_OBJECTS) == 0) return false;
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_iteration_callback = &count_object;
  jvmtiError error = jvmti->IterateThroughHeap(0, nullptr, &callbacks, size);
  if (borrow) relinquish_capabilities(jvmti, HPROF_NEED_TAG_OBJECTS);
  return error == JVMTI_ERROR_NONE;
}

}  // namespace

bool SessionCommands::perform(const Command& command, Answer* answer) {
  return parts_.control.perform(command, answer);
}

void SessionCommands::request_detach() { parts_.control.request_detach(); }
void SessionCommands::detail(const char* text) { parts_.log.detail(text); }

void SessionCommands::echo(uint32_t serial, bool good, const char* text) {
  parts_.reports.echo(serial, good, text);
}

void SessionCommands::end_conversation() { parts_.reports.end_conversation(); }
uint32_t SessionCommands::collector_count() const { return parts_.units.collector_count(); }

CommandTarget::Collector SessionCommands::collector(uint32_t index) const {
  const CollectorSlot& slot = parts_.units.collector(index);
  return {slot.unit, slot.running, slot.has_data, is_gone(slot)};
}

void SessionCommands::start_all() { parts_.units.start_all(parts_.jni()); }
void SessionCommands::stop_all() { parts_.units.stop_all(); }

bool SessionCommands::start(uint32_t index) {
  return parts_.units.start(parts_.units.collector(index), parts_.jni());
}

void SessionCommands::stop(uint32_t indices) {
  for (uint32_t i = 0; i < parts_.units.collector_count(); i++) {
    if ((indices >> i & 1) != 0) parts_.units.stop(parts_.units.collector(i));
  }
  parts_.units.settle_events();
}

bool SessionCommands::change(uint32_t index, const hprof_control& control) {
  CollectorSlot& slot = parts_.units.collector(index);
  if (!slot.running || !HPROF_HAS(slot.ops, hprof_collector_ops, control)) return false;
  Inside mark(slot.inside, "control", tag::kControl);
  return slot.ops->control(slot.self, &control) == HPROF_OK;
}

void SessionCommands::reset(uint32_t index) {
  CollectorSlot& slot = parts_.units.collector(index);
  if (!slot.has_data || !HPROF_HAS(slot.ops, hprof_collector_ops, reset)) return;
  Inside mark(slot.inside, "reset", tag::kControl);
  slot.ops->reset(slot.self);
  slot.began = Instant::now();
  parts_.reports.forget_windows(slot);
  slot.window_end = {};
  slot.has_data = slot.running;
  slot.dumped = false;
  slot.unreported = slot.running;
}

Reported SessionCommands::report(double cutoff, uint32_t flags, const char* const* records) {
  if (cutoff < 0) cutoff = parts_.setup.core().cutoff;
  return parts_.reports.report({sizeof(hprof_report), HPROF_REPORT_COMMAND, cutoff, flags, 0, records});
}

bool SessionCommands::write(hprof_record* record) {
  if (!parts_.pipeline.acquire(false)) return false;
  const hprof_status status = parts_.pipeline.write(record);
  parts_.pipeline.release();
  return status != HPROF_ABORTED;
}

bool SessionCommands::write_traces(uint32_t* last) {
  if (!parts_.pipeline.acquire(false)) return false;
  *last = raw(parts_.model.last_trace());
  hprof_status status = HPROF_OK;
  for (uint32_t serial = 1; serial <= *last && status != HPROF_ABORTED; serial++)
    status = parts_.pipeline.define(HPROF_RECORD_TRACE, serial);
  parts_.pipeline.release();
  return status != HPROF_ABORTED;
}

bool SessionCommands::measure_heap(uint64_t* bytes, uint64_t* objects) {
  HeapSize size;
  if (!hprof::measure_heap(parts_.jvmti, &size)) return false;
  *bytes = size.bytes;
  *objects = size.objects;
  return true;
}

bool SessionCommands::collect_garbage() { return parts_.jvmti->ForceGarbageCollection() == JVMTI_ERROR_NONE; }

const char* SessionCommands::exit_vm() {
  if (!parts_.setup.core().allows_exit()) return "not allowed: needs the option allow=exit";
  const bool ends = run_agent_thread(parts_, parts_.jni(), "exit", &end_vm, nullptr);
  return ends ? nullptr : "no thread can be started that ends the VM";
}

uint32_t SessionCommands::set_depth(uint32_t depth) { return parts_.units.set_depth(depth); }
bool SessionCommands::can_be_detached() const { return parts_.can_be_detached(); }
void SessionCommands::leave_out_last() { parts_.reports.leave_out_last(); }
void SessionCommands::put_output(TextWriter* out) const { parts_.reports.put_output(out); }

CommandTarget::Totals SessionCommands::totals() const {
  return {parts_.settings.depth, parts_.threads.live(), parts_.memory.used(), parts_.pipeline.is_open()};
}

void SessionCommands::put_losses(TextWriter* lines) const {
  parts_.losses.each_nonzero([&](const char* what, uint64_t value) {
    lines->put("lost ").put_unsigned(value).put(' ').put(what).put('\n');
  });
}

void SessionCommands::forget_message() { parts_.log.last().forget(); }

void SessionCommands::put_last_message(bool of_output, const char* otherwise, TextWriter* out) {
  LastMessage& last = of_output ? parts_.reports.output_message() : parts_.log.last();
  last.put(out, otherwise);
}

}  // namespace hprof
