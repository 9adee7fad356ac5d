#include "core/agent/command_runner.h"

#include <hprof/collector.h>
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/tables.h>

#include "core/agent/heap_summary.h"
#include "core/agent/session.h"
#include "core/base/status.h"
#include "core/control/command_table.h"

namespace hprof {

namespace {

// Names of records. A command concerns the collectors that emit one of them.
using Names = const char* const*;
constexpr const char* kHeapDumps[] = {HPROF_KIND_HEAP_DUMP_BEGIN, nullptr};
constexpr const char* kSites[] = {HPROF_TABLE_ALLOC_SITES, nullptr};
constexpr const char* kSamples[] = {HPROF_TABLE_CPU_SAMPLES, nullptr};
constexpr const char* kCpu[] = {HPROF_TABLE_CPU_SAMPLES, HPROF_TABLE_CPU_TIMES, HPROF_TABLE_CPU_OLD, nullptr};
constexpr const char* kSummary[] = {HPROF_TABLE_HEAP_SUMMARY, nullptr};
constexpr Names kAll = nullptr;

// Calls visit(slot) for each collector that emits one of these, or for all with kAll. Returns how many.
template <typename Visit>
uint32_t each_collector(Session& session, Names names, Visit visit) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < session.units().collector_count(); i++) {
    CollectorSlot& slot = session.units().collector(i);
    if (names != kAll && !have_common(slot.unit->records, names)) continue;
    count++;
    visit(slot);
  }
  return count;
}

uint32_t running(Session& session, Names names) {
  uint32_t count = 0;
  each_collector(session, names, [&](CollectorSlot& slot) { count += slot.running ? 1 : 0; });
  return count;
}

void none_chosen(const char* what, Answer* answer) {
  answer->error().put("no collector was chosen that has ").put(what);
}

void start(Session& session, JNIEnv* jni, Answer* answer) {
  session.units().start_all(jni);
  const uint32_t count = running(session, kAll), chosen = session.units().collector_count();
  if (chosen == 0) {
    answer->error().put("no collector was chosen");
  } else if (count == chosen) {
    answer->ok().put("running: ").put_unsigned(count);
  } else {
    answer->error().put("running: ").put_unsigned(count).put(" of ").put_unsigned(chosen);
    session.voice().words().put(&answer->last, "a collector gives no reason");
  }
}

void report(Session& session, const Command& command, Names names, const char* what, Answer* answer) {
  double cutoff = command.cutoff >= 0 ? command.cutoff : session.setup().core().cutoff;
  if (each_collector(session, names, [](CollectorSlot&) {}) == 0) {
    return none_chosen(what, answer);
  }
  Reported reported =
      session.reports().report({sizeof(hprof_report), HPROF_REPORT_COMMAND, cutoff, command.flags, 0, names});
  if (reported.output_gone) {
    session.reports().output_words().put(&answer->error().put("the output is gone"), "no reason is known");
  } else if (reported.failed != 0) {
    answer->error().put("reports that failed: ").put_unsigned(reported.failed);
    answer->last.put(reported.why);
  } else if (reported.written == 0) {
    answer->error().put("nothing was collected yet: start first");
  } else {
    answer->ok().put("reports written: ").put_unsigned(reported.written).put(", ");
    session.reports().put_output(&answer->last);
  }
}

// Starts a collector that is stopped for the time of the dump, which needs no earlier data.
void dump_heap(Session& session, JNIEnv* jni, const Command& command, Answer* answer) {
  uint32_t started = 0;
  each_collector(session, kHeapDumps, [&](CollectorSlot& slot) {
    if (slot.running || !session.units().start(slot, jni)) return;
    started |= 1u << slot.index;
  });
  report(session, command, kHeapDumps, "heap dumps", answer);
  each_collector(session, kHeapDumps, [&](CollectorSlot& slot) {
    if ((started >> slot.index & 1) != 0) session.units().stop(slot);
  });
  if (started != 0) session.units().settle_events();
}

bool write_summary(Session& session, const HeapSize& size) {
  if (!session.pipeline().acquire(false)) return false;
  const hprof_heap_summary_row row = {size.bytes, size.objects, 0, 0};
  hprof_rec_table table = table_of(kHeapSummary, &row, 1);
  table.created_ms = static_cast<uint64_t>(platform::wall_ms());
  const hprof_status status = session.pipeline().write(&table.head);
  session.pipeline().release();
  return status != HPROF_ABORTED;
}

// Asks the collector that counts allocations, if it runs. Otherwise walks the heap: the totals of allocations
// are not known, and 0 in the record.
void heap_summary(Session& session, const Command& command, Answer* answer) {
  if (running(session, kSummary) != 0) return report(session, command, kSummary, "heap summaries", answer);
  HeapSize size;
  if (!measure_heap(session.parts().jvmti, &size)) {
    answer->error().put("the VM does not allow walking its heap");
  } else if (!write_summary(session, size)) {
    answer->error().put("the output is gone");
  } else {
    answer->ok().put("on the heap: ").put_unsigned(size.bytes).put(" bytes, ");
    answer->last.put_unsigned(size.objects).put(" objects");
  }
}

void dump_traces(Session& session, Answer* answer) {
  if (!session.pipeline().acquire(false)) {
    answer->error().put("the output is gone");
    return;
  }
  const uint32_t last = raw(session.parts().model.last_trace());
  hprof_status status = HPROF_OK;
  for (uint32_t serial = 1; serial <= last && status != HPROF_ABORTED; serial++)
    status = session.pipeline().define(HPROF_RECORD_TRACE, serial);
  session.pipeline().release();
  if (status == HPROF_ABORTED) {
    answer->error().put("the output is gone");
  } else {
    answer->ok().put("traces up to ").put_unsigned(last);
  }
}

// Passes a change to the running collectors. Returns how many accepted it.
uint32_t pass_on(Session& session, Names names, uint32_t what, int64_t value, uint64_t object) {
  hprof_control control = {sizeof(control), what, value, object};
  uint32_t count = 0;
  each_collector(session, names, [&](CollectorSlot& slot) {
    if (!slot.running || !HPROF_HAS(slot.ops, hprof_collector_ops, control)) return;
    Inside mark(slot.inside, "control", tag::kControl);
    if (slot.ops->control(slot.self, &control) == HPROF_OK) count++;
  });
  return count;
}

// Starts a stopped collector when sampling is switched on; for a single thread, for that thread only.
void switch_sampling(Session& session, JNIEnv* jni, const Command& command, Answer* answer) {
  bool on = command.value != 0;
  uint32_t chosen = each_collector(session, kSamples, [&](CollectorSlot& slot) {
    if (!on || slot.running || !session.units().start(slot, jni)) return;
    if (command.object != 0) pass_on(session, kSamples, HPROF_CONTROL_CPU_SAMPLING, 0, 0);
  });
  if (chosen == 0) return none_chosen("CPU samples", answer);
  uint32_t took = pass_on(session, kSamples, HPROF_CONTROL_CPU_SAMPLING, command.value, command.object);
  if (took == 0 && (on || running(session, kSamples) != 0)) {
    answer->error().put(command.object != 0 ? "no thread with that id is sampled" : "no collector samples");
    return;
  }
  answer->ok().put(on ? "sampling is on" : "sampling is off");
}

void switch_alloc(Session& session, JNIEnv* jni, const Command& command, Answer* answer) {
  bool on = command.value != 0;
  uint32_t chosen = each_collector(session, kSites, [&](CollectorSlot& slot) {
    if (on && !slot.running) session.units().start(slot, jni);
  });
  if (chosen == 0) return none_chosen("allocation sites", answer);
  uint32_t took = pass_on(session, kSites, HPROF_CONTROL_ALLOC_TRACES, command.value, 0);
  if (took == 0 && running(session, kSites) != 0) {
    answer->error().put("the collector does not support that");
    return;
  }
  answer->ok().put(on ? "allocation traces are on" : "allocation traces are off");
}

void reset(Session& session, Names names, const char* what, Answer* answer) {
  uint32_t count = each_collector(session, names, [](CollectorSlot& slot) {
    if (!slot.has_data || !HPROF_HAS(slot.ops, hprof_collector_ops, reset)) return;
    Inside mark(slot.inside, "reset", tag::kControl);
    slot.ops->reset(slot.self);
    slot.began = Instant::now();
    slot.windows.forget();
    slot.window_end = {};
    slot.has_data = slot.running;
    slot.dumped = false;
    slot.unreported = slot.running;
  });
  if (count == 0) return none_chosen(what, answer);
  answer->ok().put("forgotten: ").put(what);
}

void change_depth(Session& session, const Command& command, Answer* answer) {
  uint32_t depth = session.units().set_depth(command.value);
  pass_on(session, kAll, HPROF_CONTROL_DEPTH, depth, 0);
  answer->ok().put("depth: ").put_unsigned(depth);
}

void status(Session& session, Answer* answer) {
  TextWriter& lines = answer->lines;
  each_collector(session, kAll, [&](CollectorSlot& slot) {
    const char* state = is_gone(slot)   ? "left out"
                        : slot.running  ? "running"
                        : slot.has_data ? "stopped"
                                        : "not started";
    lines.put(slot.unit->id).put(": ").put(state).put('\n');
  });
  Pipeline& pipeline = session.pipeline();
  session.reports().put_output(&lines.put("output: "));
  lines.put(pipeline.is_open() ? "\n" : ", closed\n");
  lines.put("depth: ").put_unsigned(session.parts().settings.depth).put('\n');
  lines.put("threads: ").put_unsigned(session.parts().threads.live()).put('\n');
  lines.put("memory: ").put_unsigned(session.parts().memory.used()).put(" bytes\n");
  session.parts().losses.each_nonzero([&](const char* words, uint64_t value) {
    lines.put("lost ").put_unsigned(value).put(' ').put(words).put('\n');
  });
  answer->ok().put(running(session, kAll) != 0 ? "running" : "idle");
}

void force_gc(Session& session, Answer* answer) {
  if (session.parts().jvmti->ForceGarbageCollection() == JVMTI_ERROR_NONE) {
    answer->ok().put("collected");
  } else {
    answer->error().put("the VM refuses to collect garbage");
  }
}

// On a thread of its own: System.exit runs shutdown hooks and VMDeath on the calling thread, which waits for
// the control thread.
void JNICALL exit_vm(jvmtiEnv*, JNIEnv* jni, void*) {
  jclass system = jni->FindClass("java/lang/System");
  jmethodID exit = system != nullptr ? jni->GetStaticMethodID(system, "exit", "(I)V") : nullptr;
  if (exit != nullptr) jni->CallStaticVoidMethod(system, exit, 0);
  clear_exception(jni);
}

void exit_on_command(Session& session, JNIEnv* jni, Answer* answer) {
  if (!session.setup().core().allows_exit()) {
    answer->error().put("not allowed: needs the option allow=exit");
  } else if (!run_agent_thread(session.parts(), jni, "HPROF exit", &exit_vm, nullptr)) {
    answer->error().put("no thread can be started that ends the VM");
  } else {
    answer->ok().put("the VM ends");
  }
}

}  // namespace

void run_command(Session& session, JNIEnv* jni, const Command& command, Answer* answer) {
  session.voice().words().forget();
  switch (command.kind) {
    case CommandKind::kForceGc:
      return force_gc(session, answer);
    case CommandKind::kDumpHeap:
      return dump_heap(session, jni, command, answer);
    case CommandKind::kSites:
      return report(session, command, kSites, "allocation sites", answer);
    case CommandKind::kHeapSummary:
      return heap_summary(session, command, answer);
    case CommandKind::kExit:
      return exit_on_command(session, jni, answer);
    case CommandKind::kDumpTraces:
      return dump_traces(session, answer);
    case CommandKind::kSamples:
      return report(session, command, kCpu, "CPU samples", answer);
    case CommandKind::kAllocTraces:
      return switch_alloc(session, jni, command, answer);
    case CommandKind::kCpuSampling:
      return switch_sampling(session, jni, command, answer);
    case CommandKind::kClearCpu:
      return reset(session, kCpu, "CPU samples", answer);
    case CommandKind::kClearSites:
      return reset(session, kSites, "allocation sites", answer);
    case CommandKind::kDepth:
      return change_depth(session, command, answer);
    case CommandKind::kStart:
      return start(session, jni, answer);
    case CommandKind::kStop:
      session.units().stop_all();
      answer->ok().put("stopped");
      return;
    case CommandKind::kReport:
      return report(session, command, kAll, "reports", answer);
    case CommandKind::kReset:
      return reset(session, kAll, "all that was seen", answer);
    case CommandKind::kStatus:
      return status(session, answer);
    case CommandKind::kHelp:
      put_command_help(&answer->lines);
      answer->ok();
      return;
    case CommandKind::kDetach:
      answer->detach = session.can_be_detached();
      if (answer->detach) {
        if (command.value != 0) session.reports().leave_out_last();
        answer->ok().put("detaching");
      } else {
        answer->error().put("classes keep this session's probes: it can be stopped, but not detached");
      }
      return;
    case CommandKind::kEof:
      answer->eof = true;
      answer->ok();
      return;
  }
}

}  // namespace hprof
