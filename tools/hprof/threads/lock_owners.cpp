#include "tools/hprof/threads/lock_owners.h"

#include <utility>

namespace hprof::tool {

namespace {

using Numbers = std::map<uint64_t, ThreadOfDump>;

// The threads that own locks, by number.
Numbers owners_of(const ThreadDump& dump) {
  Numbers owners;
  for (const auto& owner : dump.owners) owners[owner.second];
  for (const DumpedThread& thread : dump.threads) {
    const auto found = owners.find(thread.number);
    if (found != owners.end() && thread.number != 0) found->second.platform = &thread;
  }
  for (const VirtualThread& thread : dump.virtual_threads) {
    const auto found = owners.find(thread.number);
    if (found != owners.end() && !found->second.is_known()) found->second.of_virtual = &thread;
  }
  return owners;
}

// The lock that a thread waits for; nullptr: none.
const DumpedLock* awaited(const ThreadDump& dump, const ThreadOfDump& thread) {
  if (thread.platform != nullptr) return thread.platform->lock.id.empty() ? nullptr : &thread.platform->lock;
  const uint32_t lock = thread.of_virtual->lock;
  return lock == VirtualThread::kNone ? nullptr : &dump.virtual_locks[lock];
}

using Locks = std::map<std::string, ContendedLock>;

std::vector<DeadlockedThread> circle_from(const ThreadDump& dump, const Locks& locks,
                                          const ContendedLock* first) {
  std::vector<DeadlockedThread> circle;
  for (const ContendedLock* lock = first;;) {
    // The lock's holder waits for the next one.
    const ContendedLock* next = &locks.find(awaited(dump, lock->holder)->id)->second;
    circle.push_back({lock->holder.name(), lock_text(next->lock), "", stack_of(dump, lock->holder)});
    if (circle.back().name.empty()) circle.back().name = "#" + std::to_string(lock->holder.number());
    if (next == first) break;
    lock = next;
  }
  for (size_t i = 0; i < circle.size(); ++i) circle[i].holder = circle[(i + 1) % circle.size()].name;
  return circle;
}

// Ids of locks in the file, as the dump has them.
using Aliases = std::map<std::string, std::string>;

void add_alias(const DumpedLock& in_file, const DumpedLock& in_dump, Aliases* aliases) {
  if (!in_file.id.empty() && in_file.of == in_dump.of) aliases->emplace(in_file.id, in_dump.id);
}

Aliases aliases_of(const ThreadDump& file, const ThreadDump& dump) {
  std::map<uint64_t, const DumpedThread*> by_number;
  for (const DumpedThread& thread : dump.threads)
    if (thread.number != 0) by_number.emplace(thread.number, &thread);
  Aliases aliases;
  for (const DumpedThread& thread : file.threads) {
    const auto found = by_number.find(thread.number);
    if (found == by_number.end()) continue;
    const DumpedThread& same = *found->second;
    add_alias(thread.lock, same.lock, &aliases);
    // What jstack adds, of java.util.concurrent, comes last.
    for (size_t i = 0; i < thread.holds.size() && i < same.holds.size(); ++i)
      add_alias(thread.holds[i], same.holds[i], &aliases);
  }
  return aliases;
}

std::string named(const std::string& id, const Aliases& aliases) {
  const auto found = aliases.find(id);
  return found == aliases.end() ? id : found->second;
}

}  // namespace

std::string quoted(const ThreadOfDump& thread) {
  const std::string number = thread.number() == 0 ? "" : "#" + std::to_string(thread.number());
  if (thread.of_virtual != nullptr && thread.name().empty()) return number;
  return "\"" + thread.name() + "\"" + (number.empty() ? "" : " " + number);
}

const std::vector<std::string>& stack_of(const ThreadDump& dump, const ThreadOfDump& thread) {
  return thread.platform != nullptr ? thread.platform->stack
                                    : dump.virtual_groups[thread.of_virtual->group].stack;
}

Locks contended_locks(const ThreadDump& dump) {
  Locks locks;
  const auto add = [&](const ThreadOfDump& thread) {
    const DumpedLock* lock = awaited(dump, thread);
    if (lock == nullptr) return;
    locks[lock->id].lock = *lock;
    locks[lock->id].waiting.push_back(thread);
  };
  for (const DumpedThread& thread : dump.threads) add({&thread, nullptr});
  for (const VirtualThread& thread : dump.virtual_threads) add({nullptr, &thread});
  for (const DumpedThread& thread : dump.threads) {
    for (const DumpedLock& held : thread.holds) {
      const auto found = locks.find(held.id);
      if (found != locks.end()) found->second.holder.platform = &thread;
    }
  }
  const Numbers owners = owners_of(dump);
  for (const auto& owner : dump.owners) {
    const auto found = locks.find(owner.first);
    if (found == locks.end() || found->second.holder.is_known()) continue;
    found->second.holder = owners.at(owner.second);
  }
  return locks;
}

std::string lock_text(const DumpedLock& lock) {
  return lock.id.find('@') != std::string::npos ? lock.id : lock.of + " <" + lock.id + ">";
}

bool is_deadlocked(const ThreadDump& dump, const DumpedLock& lock) {
  const std::string text = lock_text(lock), address = "<" + lock.id + ">";
  for (const auto* circles : {&dump.deadlocks, &dump.likely_deadlocks})
    for (const std::vector<DeadlockedThread>& circle : *circles)
      for (const DeadlockedThread& thread : circle)
        if (thread.waits_for == text || thread.waits_for.find(address) != std::string::npos) return true;
  return false;
}

// A lock has one holder, who waits for one lock at most: from a lock on there is one way.
std::vector<std::vector<DeadlockedThread>> circles_of(const ThreadDump& dump) {
  const Locks locks = contended_locks(dump);
  std::vector<std::vector<DeadlockedThread>> circles;
  std::map<const ContendedLock*, size_t> seen;  // on which way
  size_t way = 0;
  for (const auto& start : locks) {
    way++;
    const ContendedLock* lock = &start.second;
    while (lock != nullptr && seen.emplace(lock, way).second) {
      const DumpedLock* next = lock->holder.is_known() ? awaited(dump, lock->holder) : nullptr;
      lock = next == nullptr ? nullptr : &locks.find(next->id)->second;
    }
    if (lock == nullptr || seen[lock] != way || is_deadlocked(dump, lock->lock)) continue;
    std::vector<DeadlockedThread> circle = circle_from(dump, locks, lock);
    if (circle.size() > 1) circles.push_back(std::move(circle));
  }
  return circles;
}

void add_virtual_threads(ThreadDump file, ThreadDump* dump) {
  const Aliases aliases = aliases_of(file, *dump);
  for (DumpedLock& lock : file.virtual_locks) lock.id = named(lock.id, aliases);
  for (const auto& owner : file.owners) dump->owners.emplace(named(owner.first, aliases), owner.second);
  dump->virtual_locks = std::move(file.virtual_locks);
  dump->virtual_groups = std::move(file.virtual_groups);
  dump->virtual_threads = std::move(file.virtual_threads);
  dump->virtual_count = file.virtual_count;
  dump->is_cut = dump->is_cut || file.is_cut;
}

}  // namespace hprof::tool
