#include "tools/hprof/threads/threads_report.h"

#include <algorithm>
#include <cstdio>

namespace hprof::tool {

namespace {

constexpr size_t kMostNames = 8;  // of threads in one line
constexpr double kNotKnown = -1;

std::string quoted(const DumpedThread& thread) {
  return "\"" + thread.name + "\"" + (thread.number != 0 ? " #" + std::to_string(thread.number) : "");
}

std::string stack_text(const std::vector<std::string>& stack) {
  std::string text;
  for (const std::string& line : stack) text += "    " + line + "\n";
  return text;
}

std::string names_text(const std::vector<const DumpedThread*>& threads) {
  std::string text;
  for (size_t i = 0; i < threads.size() && i < kMostNames; ++i)
    text += (i == 0 ? "" : ", ") + quoted(*threads[i]);
  if (threads.size() > kMostNames) text += " and " + std::to_string(threads.size() - kMostNames) + " more";
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
    if (!thread.lock.empty()) pools[name].blocked++;
  }
  return pools;
}

// A lock, and who waits for it.
struct Contended {
  std::string of;
  const DumpedThread* holder = nullptr;
  std::vector<const DumpedThread*> waiting;
};

// By address.
std::map<std::string, Contended> contended_locks(const ThreadDump& dump) {
  std::map<std::string, Contended> locks;
  for (const DumpedThread& thread : dump.threads) {
    if (thread.lock.empty()) continue;
    locks[thread.lock].of = thread.lock_class;
    locks[thread.lock].waiting.push_back(&thread);
  }
  for (const DumpedThread& thread : dump.threads) {
    for (const std::string& address : thread.holds) {
      const auto found = locks.find(address);
      if (found != locks.end()) found->second.holder = &thread;
    }
  }
  return locks;
}

// True: a circle names the lock, with the only thread that waits for it.
bool is_deadlocked(const ThreadDump& dump, const std::string& lock) {
  for (const std::vector<DeadlockedThread>& circle : dump.deadlocks)
    for (const DeadlockedThread& thread : circle)
      if (thread.waits_for.find("<" + lock + ">") != std::string::npos) return true;
  return false;
}

std::string deadlock_text(const std::vector<DeadlockedThread>& circle) {
  std::string text = "DEADLOCK: " + std::to_string(circle.size()) + " threads wait for each other\n";
  for (const DeadlockedThread& thread : circle) {
    text +=
        "  \"" + thread.name + "\" waits for " + thread.waits_for + ", held by \"" + thread.holder + "\"\n";
    text += stack_text(thread.stack);
  }
  return text;
}

// Of pools whose threads all wait for locks: how many of them wait for this one.
std::string hung_pools_text(const Contended& lock, const std::map<std::string, Pool>& pools) {
  std::map<std::string, size_t> here;
  for (const DumpedThread* thread : lock.waiting) here[pool_of(thread->name)]++;
  std::string text;
  for (const auto& pool : here) {
    const auto found = pools.find(pool.first);
    if (found == pools.end() || !found->second.hangs()) continue;
    text += "    " + std::to_string(pool.second) + " of the " + std::to_string(found->second.threads) +
            " threads of " + pool.first + ", which all wait for locks\n";
  }
  return text;
}

std::string blocked_text(const std::string& address, const Contended& lock,
                         const std::map<std::string, Pool>& pools) {
  const size_t count = lock.waiting.size();
  std::string text =
      "BLOCKED: " + std::to_string(count) + (count == 1 ? " thread waits" : " threads wait") + " for " +
      lock.of + " <" + address + ">, held by " +
      (lock.holder != nullptr ? quoted(*lock.holder) : "a thread that the dump does not name") + "\n";
  text += "    " + names_text(lock.waiting) + "\n" + hung_pools_text(lock, pools);
  if (lock.holder != nullptr) text += "  the holder's stack:\n" + stack_text(lock.holder->stack);
  return text;
}

struct Group {
  std::vector<const DumpedThread*> threads;
  double now = 0;    // CPU since the earlier dump, ms
  double total = 0;  // since the start
};

double since(const DumpedThread& thread, const CpuTimes& before) {
  const auto found = before.find({thread.address, thread.name});
  return found == before.end() ? thread.cpu_ms : thread.cpu_ms - found->second;
}

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
    group.threads.push_back(&thread);
    group.now += std::max(since(thread, before), 0.0);
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

std::string group_text(const Group& group, double seconds) {
  const DumpedThread& first = *group.threads[0];
  const size_t count = group.threads.size();
  const bool timed = first.cpu_ms >= 0;
  std::string text = time_text(timed && seconds > 0 ? group.now : kNotKnown) +
                     time_text(timed ? group.total : kNotKnown) + "  ";
  if (count > 1) text += std::to_string(count) + " threads: ";
  text += names_text(group.threads);
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

std::string heading(const char* title, const std::vector<Group>& groups, double seconds) {
  char text[160];
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

std::string hang_text(const ThreadDump& dump, Blocked which) {
  std::string text;
  for (const std::vector<DeadlockedThread>& circle : dump.deadlocks) text += deadlock_text(circle);
  const std::map<std::string, Pool> pools = pools_of(dump);
  for (const auto& lock : contended_locks(dump)) {
    const bool shown = which == Blocked::kAll
                           ? lock.second.waiting.size() > 1 || lock.second.holder != nullptr
                           : !hung_pools_text(lock.second, pools).empty();
    if (shown && !(lock.second.waiting.size() == 1 && is_deadlocked(dump, lock.first)))
      text += blocked_text(lock.first, lock.second, pools);
  }
  return text;
}

std::string counts_text(const ThreadDump& dump) {
  size_t java = 0, blocked = 0;
  for (const DumpedThread& thread : dump.threads) {
    if (!thread.stack.empty()) java++;
    if (!thread.lock.empty()) blocked++;
  }
  return std::to_string(java) + " threads with a Java stack, " + std::to_string(blocked) +
         (blocked == 1 ? " waits" : " wait") + " for locks" +
         (dump.is_cut ? "; there are more threads or frames than are read" : "");
}

std::string threads_text(const ThreadDump& dump, const CpuTimes& before, double seconds) {
  std::string text;
  for (const bool of_vm : {false, true}) {
    const std::vector<Group> groups = groups_of(dump, before, of_vm);
    text += heading(of_vm ? "WITHOUT A JAVA STACK" : "THREADS", groups, seconds);
    for (const Group& group : groups) text += group_text(group, seconds);
  }
  return text;
}

std::string virtual_threads_text(const std::vector<VirtualThreads>& groups, uint64_t virtual_count) {
  std::string text = "VIRTUAL THREADS: " + std::to_string(virtual_count) + "\n";
  for (const VirtualThreads& group : groups) {
    text += "  " + std::to_string(group.count) + (group.count == 1 ? " thread" : " threads") +
            (group.state.empty() ? "" : ", " + group.state) + "\n" + stack_text(group.stack);
    virtual_count -= group.count;
  }
  if (virtual_count != 0) text += "  " + std::to_string(virtual_count) + " with other stacks\n";
  return text;
}

}  // namespace hprof::tool
