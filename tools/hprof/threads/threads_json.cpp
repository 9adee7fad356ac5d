// hprof threads --json: the same as sections and tables, each platform thread a row.
#include <algorithm>

#include "tools/hprof/threads/lock_owners.h"
#include "tools/hprof/threads/threads_report.h"

namespace hprof::tool {

namespace {

Column number(const char* key) { return data_column(key, CellKind::kNumber); }
Column text(const char* key) { return data_column(key, CellKind::kText); }

Table deadlocks_of(const ThreadDump& dump) {
  Table table{"deadlocks",
              "",
              {number("deadlock"), text("likely"), text("thread"), text("waits_for"), text("held_by"),
               text("stack")}};
  uint64_t circles = 0;
  for (const auto* all : {&dump.deadlocks, &dump.likely_deadlocks}) {
    for (const std::vector<DeadlockedThread>& circle : *all) {
      ++circles;
      for (const DeadlockedThread& thread : circle)
        table.rows.push_back({circles, yes_or_no(all == &dump.likely_deadlocks), thread.name,
                              thread.waits_for, thread.holder, thread.stack});
    }
  }
  return table;
}

Table locks_of(const ThreadDump& dump) {
  Table table{"locks",
              "",
              {number("waiting"), text("lock"), text("class"), text("held_by"), number("held_by_number"),
               text("held_by_stack")}};
  for (const auto& [id, lock] : contended_locks(dump)) {
    const bool is_known = lock.holder.is_known();
    table.rows.push_back({uint64_t{lock.waiting.size()}, id, lock.lock.of,
                          is_known ? Cell(lock.holder.name()) : Cell(),
                          is_known ? number_or_null(lock.holder.number()) : Cell(),
                          is_known ? stack_of(dump, lock.holder) : std::vector<std::string>()});
  }
  return table;
}

Table platform_threads_of(const ThreadDump& dump, const CpuTimes& before, double seconds) {
  Table table{"platform_threads",
              "",
              {text("thread"), number("number"), text("nid"), text("state"), number("cpu_ms"),
               number("cpu_ms_since_start"), text("waits_for"), text("holds"), text("stack")}};
  for (const DumpedThread& thread : dump.threads) {
    std::vector<std::string> holds;
    for (const DumpedLock& lock : thread.holds) holds.push_back(lock.id);
    const bool is_timed = thread.cpu_ms >= 0;
    table.rows.push_back({thread.name, number_or_null(thread.number), text_or_null(thread.nid),
                          text_or_null(thread.state),
                          is_timed && seconds > 0 ? Cell(nine_decimals(cpu_since(thread, before))) : Cell(),
                          is_timed ? Cell(thread.cpu_ms) : Cell(), text_or_null(thread.lock.id),
                          std::move(holds), thread.stack});
  }
  return table;
}

// Threads of one state and stack.
Table virtual_threads_of(const ThreadDump& dump) {
  Table table{"virtual_threads", "", {number("count"), text("state"), text("stack")}};
  for (const VirtualGroup& group : dump.virtual_groups)
    table.rows.push_back({group.count, text_or_null(group.state), group.stack});
  return table;
}

// The most first.
Table sorted(Table table) {
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<uint64_t>(a[0]) > std::get<uint64_t>(b[0]);
  });
  return table;
}

}  // namespace

Section section_of(const std::string& name, const ThreadDump& dump, const CpuTimes& before, double seconds) {
  Section section{"thread_dump", name, {counts_text(dump)}};
  section.facts = {
      data_fact("vm", text_or_null(dump.vm)), data_fact("seconds", seconds > 0 ? Cell(seconds) : Cell()),
      data_fact("platform_threads", uint64_t{dump.threads.size()}),
      data_fact("virtual_threads", dump.virtual_count), data_fact("is_cut", yes_or_no(dump.is_cut))};
  section.tables = {deadlocks_of(dump), sorted(locks_of(dump)), platform_threads_of(dump, before, seconds),
                    sorted(virtual_threads_of(dump))};
  return section;
}

}  // namespace hprof::tool
