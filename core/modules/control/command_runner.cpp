#include "core/modules/control/command_runner.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/tables.h>

#include "core/protocol/command_table.h"
#include "platform/platform.h"

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

using Collector = CommandTarget::Collector;

bool emits(const hprof_unit& unit, Names names) {
  while (*names != nullptr && hprof_is_listed(unit.records, *names) == 0) names++;
  return *names != nullptr;
}

// Calls visit(index, collector) for each collector that emits one of these, or for all with kAll. Returns how
// many.
template <typename Visit>
uint32_t each_collector(CommandTarget& target, Names names, Visit visit) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < target.collector_count(); i++) {
    const Collector collector = target.collector(i);
    if (names != kAll && !emits(*collector.unit, names)) continue;
    count++;
    visit(i, collector);
  }
  return count;
}

uint32_t running(CommandTarget& target, Names names) {
  uint32_t count = 0;
  each_collector(target, names, [&](uint32_t, const Collector& it) { count += it.running ? 1 : 0; });
  return count;
}

void none_chosen(const char* what, Answer* answer) {
  answer->error().put("no collector was chosen that has ").put(what);
  answer->last.put("; `hprof profile` runs one beside this session");
}

void start(CommandTarget& target, Answer* answer) {
  target.start_all();
  const uint32_t count = running(target, kAll), all = target.collector_count();
  if (all == 0) {
    answer->error().put("no collector was chosen");
  } else if (count == all) {
    answer->ok().put("running: ").put_unsigned(count);
  } else {
    answer->error().put("running: ").put_unsigned(count).put(" of ").put_unsigned(all);
    target.put_last_message(false, "a collector gives no reason", &answer->last);
  }
}

void report(CommandTarget& target, const Command& command, Names names, const char* what, Answer* answer) {
  if (each_collector(target, names, [](uint32_t, const Collector&) {}) == 0) return none_chosen(what, answer);
  const Reported reported = target.report(command.cutoff, command.flags, names);
  if (reported.output_gone) {
    target.put_last_message(true, "no reason is known", &answer->error().put("the output is gone"));
  } else if (reported.failed != 0) {
    answer->error().put("reports that failed: ").put_unsigned(reported.failed);
    answer->last.put(reported.why);
  } else if (reported.written == 0) {
    answer->error().put("nothing was collected yet: start first");
  } else {
    target.put_output(&answer->ok().put("reports written: ").put_unsigned(reported.written).put(", "));
  }
}

// Starts a collector that is stopped for the time of the dump, which needs no earlier data.
void dump_heap(CommandTarget& target, const Command& command, Answer* answer) {
  uint32_t started = 0;
  each_collector(target, kHeapDumps, [&](uint32_t index, const Collector& collector) {
    if (!collector.running && target.start(index)) started |= 1u << index;
  });
  report(target, command, kHeapDumps, "heap dumps", answer);
  if (started != 0) target.stop(started);
}

bool write_summary(CommandTarget& target, uint64_t bytes, uint64_t objects) {
  const hprof_heap_summary_row row = {bytes, objects, 0, 0};
  hprof_rec_table table = table_of(kHeapSummary, &row, 1);
  table.created_ms = static_cast<uint64_t>(platform::wall_ms());
  return target.write(&table.head);
}

// Asks the collector that counts allocations, if it runs. Otherwise walks the heap: the totals of allocations
// are not known, and 0 in the record.
void heap_summary(CommandTarget& target, const Command& command, Answer* answer) {
  if (running(target, kSummary) != 0) return report(target, command, kSummary, "heap summaries", answer);
  uint64_t bytes = 0, objects = 0;
  if (!target.measure_heap(&bytes, &objects)) {
    answer->error().put("the VM does not allow walking its heap");
  } else if (!write_summary(target, bytes, objects)) {
    answer->error().put("the output is gone");
  } else {
    answer->ok().put("on the heap: ").put_unsigned(bytes).put(" bytes, ");
    answer->last.put_unsigned(objects).put(" objects");
  }
}

void dump_traces(CommandTarget& target, Answer* answer) {
  uint32_t last = 0;
  if (target.write_traces(&last)) {
    answer->ok().put("traces up to ").put_unsigned(last);
  } else {
    answer->error().put("the output is gone");
  }
}

// Passes a change to the running collectors. Returns how many accepted it.
uint32_t pass_on(CommandTarget& target, Names names, uint32_t what, int64_t value, uint64_t object) {
  const hprof_control control = {sizeof(control), what, value, object};
  uint32_t count = 0;
  each_collector(target, names,
                 [&](uint32_t index, const Collector&) { count += target.change(index, control) ? 1 : 0; });
  return count;
}

// Starts a stopped collector when sampling is switched on; for a single thread, for that thread only.
void switch_sampling(CommandTarget& target, const Command& command, Answer* answer) {
  const bool on = command.value != 0;
  const uint32_t chosen = each_collector(target, kSamples, [&](uint32_t index, const Collector& collector) {
    if (!on || collector.running || !target.start(index)) return;
    if (command.object != 0) pass_on(target, kSamples, HPROF_CONTROL_CPU_SAMPLING, 0, 0);
  });
  if (chosen == 0) return none_chosen("CPU samples", answer);
  const uint32_t took = pass_on(target, kSamples, HPROF_CONTROL_CPU_SAMPLING, command.value, command.object);
  if (took == 0 && (on || running(target, kSamples) != 0)) {
    answer->error().put(command.object != 0 ? "no thread with that id is sampled" : "no collector samples");
    return;
  }
  answer->ok().put(on ? "sampling is on" : "sampling is off");
}

void switch_alloc(CommandTarget& target, const Command& command, Answer* answer) {
  const bool on = command.value != 0;
  const uint32_t chosen = each_collector(target, kSites, [&](uint32_t index, const Collector& collector) {
    if (on && !collector.running) target.start(index);
  });
  if (chosen == 0) return none_chosen("allocation sites", answer);
  const uint32_t took = pass_on(target, kSites, HPROF_CONTROL_ALLOC_TRACES, command.value, 0);
  if (took == 0 && running(target, kSites) != 0) {
    answer->error().put("the collector does not support that");
    return;
  }
  answer->ok().put(on ? "allocation traces are on" : "allocation traces are off");
}

void reset(CommandTarget& target, Names names, const char* what, Answer* answer) {
  const uint32_t count =
      each_collector(target, names, [&](uint32_t index, const Collector&) { target.reset(index); });
  if (count == 0) return none_chosen(what, answer);
  answer->ok().put("forgotten: ").put(what);
}

void change_depth(CommandTarget& target, const Command& command, Answer* answer) {
  const uint32_t depth = target.set_depth(command.value);
  pass_on(target, kAll, HPROF_CONTROL_DEPTH, depth, 0);
  answer->ok().put("depth: ").put_unsigned(depth);
}

void status(CommandTarget& target, Answer* answer) {
  TextWriter& lines = answer->lines;
  each_collector(target, kAll, [&](uint32_t, const Collector& collector) {
    const char* state = collector.gone       ? "left out"
                        : collector.running  ? "running"
                        : collector.has_data ? "stopped"
                                             : "not started";
    lines.put(collector.unit->id).put(": ").put(state).put('\n');
  });
  const CommandTarget::Totals totals = target.totals();
  target.put_output(&lines.put("output: "));
  lines.put(totals.output_is_open ? "\n" : ", closed\n");
  lines.put("depth: ").put_unsigned(totals.depth).put('\n');
  lines.put("threads: ").put_unsigned(totals.threads).put('\n');
  lines.put("memory: ").put_unsigned(totals.memory).put(" bytes\n");
  target.put_losses(&lines);
  answer->ok().put(running(target, kAll) != 0 ? "running" : "idle");
}

void force_gc(CommandTarget& target, Answer* answer) {
  if (target.collect_garbage()) {
    answer->ok().put("collected");
  } else {
    answer->error().put("the VM refuses to collect garbage");
  }
}

void exit_on_command(CommandTarget& target, Answer* answer) {
  if (const char* why = target.exit_vm()) {
    answer->error().put(why);
  } else {
    answer->ok().put("the VM ends");
  }
}

}  // namespace

void run_command(CommandTarget& target, const Command& command, Answer* answer) {
  target.forget_message();
  switch (command.kind) {
    case CommandKind::kForceGc:
      return force_gc(target, answer);
    case CommandKind::kDumpHeap:
      return dump_heap(target, command, answer);
    case CommandKind::kSites:
      return report(target, command, kSites, "allocation sites", answer);
    case CommandKind::kHeapSummary:
      return heap_summary(target, command, answer);
    case CommandKind::kExit:
      return exit_on_command(target, answer);
    case CommandKind::kDumpTraces:
      return dump_traces(target, answer);
    case CommandKind::kSamples:
      return report(target, command, kCpu, "CPU samples", answer);
    case CommandKind::kAllocTraces:
      return switch_alloc(target, command, answer);
    case CommandKind::kCpuSampling:
      return switch_sampling(target, command, answer);
    case CommandKind::kClearCpu:
      return reset(target, kCpu, "CPU samples", answer);
    case CommandKind::kClearSites:
      return reset(target, kSites, "allocation sites", answer);
    case CommandKind::kDepth:
      return change_depth(target, command, answer);
    case CommandKind::kStart:
      return start(target, answer);
    case CommandKind::kStop:
      target.stop_all();
      answer->ok().put("stopped");
      return;
    case CommandKind::kReport:
      return report(target, command, kAll, "reports", answer);
    case CommandKind::kReset:
      return reset(target, kAll, "all that was seen", answer);
    case CommandKind::kStatus:
      return status(target, answer);
    case CommandKind::kHelp:
      put_command_help(&answer->lines);
      answer->ok();
      return;
    case CommandKind::kDetach:
      answer->detach = target.can_be_detached();
      if (answer->detach) {
        if (command.value != 0) target.leave_out_last();
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
