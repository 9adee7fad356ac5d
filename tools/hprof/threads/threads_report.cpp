#include "tools/hprof/threads/threads_report.h"

#include <algorithm>
#include <cstdio>

#include "tools/hprof/threads/lock_owners.h"

namespace hprof::tool {

namespace {

constexpr size_t kMostNames = 8;  // of threads in one line
constexpr double kNotKnown = -1;

std::string stack_text(const std::vector<std::string>& stack) {
  std::string text;
  for (const std::string& line : stack) text += "    " + line + "\n";
  return text;
}

// `of`: how many there are, of which the first ones are given.
std::string names_text(const std::vector<ThreadOfDump>& threads, size_t of) {
  std::string text;
  const size_t named = std::min(threads.size(), kMostNames);
  for (size_t i = 0; i < named; ++i) text += (i == 0 ? "" : ", ") + quoted(threads[i]);
  if (of > named) text += " and " + std::to_string(of - named) + " more";
  return text;
}

// "pool-1-thread-12" is of the pool "pool-1-thread-#".
std::string pool_of(const std::string& name) {
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') end--;
  return end == name.size() || end == 0 ? "" : name.substr(0, end) + "#";
}

struct Pool {
  size_t threads = 0, blocked = 0;
  bool hangs() const { return threads > 1 && blocked == threads; }
};

std::map<std::string, Pool> pools_of(const ThreadDump& dump) {
  std::map<std::string, Pool> pools;
  for (const DumpedThread& thread : dump.threads) {
    const std::string name = pool_of(thread.name);
    if (name.empty() || thread.stack.empty()) continue;
    pools[name].threads++;
    if (!thread.lock.id.empty()) pools[name].blocked++;
  }
  return pools;
}

std::string deadlock_text(const std::vector<DeadlockedThread>& circle, const char* what) {
  std::string text = what + std::to_string(circle.size()) + " threads wait for each other\n";
  for (const DeadlockedThread& thread : circle) {
    text +=
        "  \"" + thread.name + "\" waits for " + thread.waits_for + ", held by \"" + thread.holder + "\"\n";
    text += stack_text(thread.stack);
  }
  return text;
}

// Of pools whose threads all wait for locks: how many of them wait for this one.
std::string hung_pools_text(const ContendedLock& lock, const std::map<std::string, Pool>& pools) {
  std::map<std::string, size_t> here;
  for (const ThreadOfDump& thread : lock.waiting)
    if (thread.platform != nullptr) here[pool_of(thread.name())]++;
  std::string text;
  for (const auto& pool : here) {
    const auto found = pools.find(pool.first);
    if (found == pools.end() || !found->second.hangs()) continue;
    text += "    " + std::to_string(pool.second) + " of the " + std::to_string(found->second.threads) +
            " threads of " + pool.first + ", which all wait for locks\n";
  }
  return text;
}

// "400 virtual threads wait", "1 thread and 3 virtual threads wait"
std::string waiting_text(const ContendedLock& lock) {
  size_t of_virtual = 0;
  for (const ThreadOfDump& thread : lock.waiting) of_virtual += thread.of_virtual != nullptr ? 1 : 0;
  const size_t platform = lock.waiting.size() - of_virtual;
  std::string text;
  if (platform != 0) text = std::to_string(platform) + (platform == 1 ? " thread" : " threads");
  if (of_virtual != 0)
    text += (text.empty() ? "" : " and ") + std::to_string(of_virtual) +
            (of_virtual == 1 ? " virtual thread" : " virtual threads");
  return text + (lock.waiting.size() == 1 ? " waits" : " wait");
}

std::string blocked_text(const ThreadDump& dump, const ContendedLock& lock,
                         const std::map<std::string, Pool>& pools) {
  const bool is_known = lock.holder.is_known();
  const std::string kind = is_known && lock.holder.of_virtual != nullptr ? "virtual thread " : "";
  std::string text = "BLOCKED: " + waiting_text(lock) + " for " + lock_text(lock.lock) + ", held by " +
                     (is_known ? kind + quoted(lock.holder) : "a thread that the dump does not name") + "\n";
  text += "    " + names_text(lock.waiting, lock.waiting.size()) + "\n" + hung_pools_text(lock, pools);
  const std::string stack = is_known ? stack_text(stack_of(dump, lock.holder)) : "";
  return stack.empty() ? text : text + "  the holder's stack:\n" + stack;
}

struct Group {
  std::vector<ThreadOfDump> threads;
  double now = 0;    // CPU since the earlier dump, ms
  double total = 0;  // since the start
};

// By state and frames, so that threads that wait in the same place stand together.
std::vector<Group> groups_of(const ThreadDump& dump, const CpuTimes& before, bool of_vm) {
  std::map<std::string, Group> by_stack;
  for (const DumpedThread& thread : dump.threads) {
    if (thread.stack.empty() != of_vm) continue;
    std::string key = of_vm ? pool_of(thread.name) : thread.state;
    if (key.empty()) key = thread.name;
    for (const std::string& line : thread.stack)
      if (line[0] != '-') key += "\n" + line;
    Group& group = by_stack[key];
    group.threads.push_back({&thread, nullptr});
    group.now += cpu_since(thread, before);
    group.total += thread.cpu_ms < 0 ? 0 : thread.cpu_ms;
  }
  std::vector<Group> groups;
  for (auto& group : by_stack) groups.push_back(std::move(group.second));
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    if (a.now != b.now) return a.now > b.now;
    return a.total != b.total ? a.total > b.total : a.threads.size() > b.threads.size();
  });
  return groups;
}

// In a column; below 0: not known.
std::string time_text(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%10.1f", ms);
  return ms < 0 ? "         -" : text;
}

std::string group_text(const Group& group, double seconds, bool timed) {
  const DumpedThread& first = *group.threads[0].platform;
  const size_t count = group.threads.size();
  const bool is_known = first.cpu_ms >= 0;
  std::string text = "  ";
  if (timed)
    text = time_text(is_known && seconds > 0 ? group.now : kNotKnown) +
           time_text(is_known ? group.total : kNotKnown) + text;
  if (count > 1) text += std::to_string(count) + " threads: ";
  text += names_text(group.threads, count);
  if (count == 1 && !first.nid.empty()) text += " nid=" + first.nid;
  if (!first.state.empty()) text += ", " + first.state;
  text += "\n";
  if (count == 1) return text + stack_text(first.stack);
  for (const std::string& line : first.stack)
    if (line[0] != '-') text += "    " + line + "\n";
  return text;
}

// Milliseconds of CPU since the earlier dump.
double sum(const std::vector<Group>& groups) {
  double ms = 0;
  for (const Group& group : groups) ms += group.now;
  return ms;
}

std::string heading(const char* title, const std::vector<Group>& groups, double seconds, bool timed) {
  char text[160];
  if (!timed) return std::string(title) + "\n";
  if (seconds > 0) {
    std::snprintf(text, sizeof text, "%s: %.1f ms of CPU in %.1f s\n  last %.1f s     total  (ms of CPU)\n",
                  title, sum(groups), seconds, seconds);
  } else {
    std::snprintf(text, sizeof text, "%s\n         -     total  (ms of CPU)\n", title);
  }
  return text;
}

}  // namespace

CpuTimes cpu_times(const ThreadDump& dump) {
  CpuTimes times;
  for (const DumpedThread& thread : dump.threads) times[{thread.address, thread.name}] = thread.cpu_ms;
  return times;
}

double cpu_since(const DumpedThread& thread, const CpuTimes& before) {
  const auto found = before.find({thread.address, thread.name});
  return std::max(found == before.end() ? thread.cpu_ms : thread.cpu_ms - found->second, 0.0);
}

std::string hang_text(const ThreadDump& dump, Blocked which) {
  std::string text;
  for (const std::vector<DeadlockedThread>& circle : dump.deadlocks)
    text += deadlock_text(circle, "DEADLOCK: ");
  for (const std::vector<DeadlockedThread>& circle : dump.likely_deadlocks)
    text += deadlock_text(circle, "LIKELY DEADLOCK, of threads that were looked at one after the other: ");
  const std::map<std::string, Pool> pools = pools_of(dump);
  const std::map<std::string, ContendedLock> locks = contended_locks(dump);
  std::vector<const ContendedLock*> order;
  for (const auto& each : locks) order.push_back(&each.second);
  std::stable_sort(order.begin(), order.end(), [](const ContendedLock* a, const ContendedLock* b) {
    return a->waiting.size() > b->waiting.size();
  });
  for (const ContendedLock* lock : order) {
    const size_t count = lock->waiting.size();
    const bool shown = which == Blocked::kAll ? count > 1 || lock->holder.is_known()
                                              : !hung_pools_text(*lock, pools).empty();
    // A circle names the only thread that waits.
    if (shown && !(count == 1 && is_deadlocked(dump, lock->lock))) text += blocked_text(dump, *lock, pools);
  }
  return text;
}

std::string counts_text(const ThreadDump& dump) {
  size_t java = 0, blocked = 0, virtual_blocked = 0;
  for (const DumpedThread& thread : dump.threads) {
    if (!thread.stack.empty()) java++;
    if (!thread.lock.id.empty()) blocked++;
  }
  for (const VirtualThread& thread : dump.virtual_threads)
    virtual_blocked += thread.lock != VirtualThread::kNone ? 1 : 0;
  const auto waits = [](size_t count) { return std::to_string(count) + (count == 1 ? " waits" : " wait"); };
  std::string text = std::to_string(java) + " threads with a Java stack, " + waits(blocked) + " for locks";
  if (dump.virtual_count != 0) text += "; " + std::to_string(dump.virtual_count) + " virtual threads";
  if (virtual_blocked != 0) text += ", " + waits(virtual_blocked) + " for locks";
  return text + (dump.is_cut ? "; there are more threads or frames than are read" : "");
}

std::string threads_text(const ThreadDump& dump, const CpuTimes& before, double seconds) {
  std::string text;
  bool timed = seconds > 0;
  for (const DumpedThread& thread : dump.threads) timed = timed || thread.cpu_ms >= 0;
  for (const bool of_vm : {false, true}) {
    const std::vector<Group> groups = groups_of(dump, before, of_vm);
    if (groups.empty()) continue;
    text += heading(of_vm ? "WITHOUT A JAVA STACK" : "THREADS", groups, seconds, timed);
    for (const Group& group : groups) text += group_text(group, seconds, timed);
  }
  return text;
}

std::string virtual_threads_text(const ThreadDump& dump) {
  if (dump.virtual_count == 0) return "";
  std::vector<std::vector<ThreadOfDump>> first(dump.virtual_groups.size());
  for (const VirtualThread& thread : dump.virtual_threads)
    if (first[thread.group].size() < kMostNames) first[thread.group].push_back({nullptr, &thread});
  std::vector<size_t> order;
  for (size_t i = 0; i < first.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return dump.virtual_groups[a].count > dump.virtual_groups[b].count;
  });
  std::string text = "VIRTUAL THREADS: " + std::to_string(dump.virtual_count) + "\n";
  uint64_t others = dump.virtual_count;
  for (const size_t i : order) {
    const VirtualGroup& group = dump.virtual_groups[i];
    text += "  " + std::to_string(group.count) + (group.count == 1 ? " thread: " : " threads: ") +
            names_text(first[i], group.count) + (group.state.empty() ? "" : ", " + group.state) + "\n" +
            stack_text(group.stack);
    others -= group.count;
  }
  if (others != 0) text += "  " + std::to_string(others) + " with other stacks\n";
  return text;
}

}  // namespace hprof::tool
