#include "tools/heap/questions/thread_facts.h"

#include <algorithm>

#include "tools/format/utf8.h"
#include "tools/heap/questions/thread_stacks.h"

namespace hprof::tool {

namespace {

constexpr size_t kMostVirtual = 1000000;
constexpr size_t kBatch = 1 << 16;  // objects that are read at a time
constexpr size_t kMostFrames = 10000;

// Of the bits of JVMTI's thread state, the one that says most.
std::string state_text(uint64_t status) {
  static constexpr struct {
    uint64_t bit;
    const char* text;
  } kStates[] = {{0x2, "ended"},
                 {0x400, "blocked on a monitor"},
                 {0x100, "in Object.wait"},
                 {0x40, "sleeping"},
                 {0x200, "parked"},
                 {0x80, "waiting"},
                 {0x4, "runnable"}};
  for (const auto& each : kStates) {
    if ((status & each.bit) != 0) return each.text;
  }
  return status == 0 ? "not started" : "alive";
}

}  // namespace

// The name of a state of java.lang.VirtualThread: the static field with its number.
std::string ThreadFactReader::virtual_state(uint64_t state) const {
  constexpr uint64_t kSuspended = 1 << 8;
  for (const DumpedField& field : snapshot_.outline.classes.list[virtual_].statics) {
    if (field.type != HPROF_TYPE_INT || field.value != (state & ~kSuspended)) continue;
    std::string name(snapshot_.outline.names.string(field.name));
    if (name.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) continue;
    for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return printable(name);
  }
  return std::to_string(state);
}

// Since JDK 19 java.lang.Thread has its state in an object of its own.
std::vector<ThreadFacts> ThreadFactReader::read(const std::vector<uint32_t>& objects) const {
  const std::vector<ObjectValues> values = fetcher_.fetch(objects);
  std::vector<uint32_t> holders;
  for (const ObjectValues& each : values) holders.push_back(fetcher_.target(each, "holder"));
  const std::vector<ObjectValues> held = fetcher_.fetch(holders);
  std::vector<ThreadFacts> facts(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    uint64_t status = 0;
    if (fetcher_.number(values[i], "threadStatus", &status) ||
        fetcher_.number(held[i], "threadStatus", &status))
      facts[i].state = state_text(status);
    const uint32_t index = values[i].class_index;
    if (index != kNoClass && index == virtual_ && fetcher_.number(values[i], "state", &status))
      facts[i].state = virtual_state(status);
    fetcher_.number(values[i], "tid", &facts[i].number);
    facts[i].blocker = fetcher_.target(values[i], "parkBlocker");
  }
  find_owners(&facts);
  return facts;
}

void ThreadFactReader::find_owners(std::vector<ThreadFacts>* facts) const {
  std::vector<uint32_t> blockers, locks;
  for (const ThreadFacts& each : *facts) blockers.push_back(each.blocker);
  std::vector<ObjectValues> values = fetcher_.fetch(blockers);
  for (size_t i = 0; i < blockers.size(); ++i) {
    const uint32_t outer = fetcher_.target(values[i], "this$0");  // a condition of a lock
    locks.push_back(outer == kNoObject ? blockers[i] : outer);
  }
  values = fetcher_.fetch(locks);
  for (size_t i = 0; i < blockers.size(); ++i)
    (*facts)[i].owner = fetcher_.target(values[i], "exclusiveOwnerThread");
}

namespace {

class ThreadLister {
 public:
  explicit ThreadLister(const Snapshot& snapshot) : snapshot_(snapshot), reader_(snapshot) {}

  ThreadsInHeap run() {
    take_listed();
    if (reader_.virtual_class() != kNoClass) take_virtual();
    for (const HeapRoot& root : snapshot_.roots)
      if (root.tag == kRootMonitorUsed) list_.monitors.push_back(root.object);
    std::vector<uint32_t>& monitors = list_.monitors;
    std::sort(monitors.begin(), monitors.end());
    monitors.erase(std::unique(monitors.begin(), monitors.end()), monitors.end());
    return std::move(list_);
  }

 private:
  // Those with a stack in the dump.
  void take_listed() {
    for (const HeapThread& thread : snapshot_.threads) listed_.push_back(thread.object);
    const std::vector<ThreadFacts> facts = reader_.read(listed_);
    for (size_t i = 0; i < listed_.size(); ++i) {
      const HeapThread& thread = snapshot_.threads[i];
      const auto trace = snapshot_.outline.names.traces.find(thread.trace);
      const bool has_frames = trace != snapshot_.outline.names.traces.end() && !trace->second.frames.empty();
      // A report names threads that ended before the dump.
      if (thread.object == kNoObject && !has_frames) continue;
      ThreadInHeap taken{thread.object, thread.name, is_virtual(thread.object), facts[i], {}};
      const size_t frames = has_frames ? std::min(trace->second.frames.size(), kMostFrames) : 0;
      for (uint32_t depth = 0; depth < frames; ++depth)
        taken.frames.push_back(frame_of(snapshot_, thread, depth));
      list_.threads.push_back(std::move(taken));
    }
    std::sort(listed_.begin(), listed_.end());
  }

  bool is_virtual(uint32_t object) const {
    return object != kNoObject && reader_.virtual_class() != kNoClass &&
           snapshot_.class_of(object) == reader_.virtual_class();
  }

  void take_virtual() {
    std::vector<uint32_t> batch;
    for (uint32_t object = 0; object < snapshot_.numbers.size(); ++object) {
      if (!is_virtual(object) || std::binary_search(listed_.begin(), listed_.end(), object)) continue;
      batch.push_back(object);
      if (batch.size() == kBatch) take_batch(&batch);
    }
    take_batch(&batch);
  }

  void take_batch(std::vector<uint32_t>* batch) {
    const std::vector<ThreadFacts> facts = reader_.read(*batch);
    std::vector<uint32_t> names;
    for (const ObjectValues& each : reader_.fetcher().fetch(*batch))
      names.push_back(reader_.fetcher().target(each, "name"));
    const std::vector<std::string> texts = reader_.fetcher().texts(names);
    for (size_t i = 0; i < batch->size(); ++i) {
      if (facts[i].state == "terminated" || facts[i].state == "new") continue;
      if (virtual_++ < kMostVirtual) {
        list_.threads.push_back({(*batch)[i], printable(texts[i]), true, facts[i], {}});
      } else {
        list_.left_out++;
      }
    }
    batch->clear();
  }

  const Snapshot& snapshot_;
  ThreadFactReader reader_;
  ThreadsInHeap list_;
  std::vector<uint32_t> listed_;  // objects
  size_t virtual_ = 0;
};

}  // namespace

ThreadsInHeap threads_in_heap(const Snapshot& snapshot) { return ThreadLister(snapshot).run(); }

}  // namespace hprof::tool
