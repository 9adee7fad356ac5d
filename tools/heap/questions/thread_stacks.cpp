#include "tools/heap/questions/thread_stacks.h"

#include <algorithm>

#include "tools/format/utf8.h"
#include "tools/heap/questions/heap_tables.h"
#include "tools/heap/questions/thread_facts.h"

namespace hprof::tool {

namespace {

constexpr size_t kFramesMost = 200, kObjectsOfFrame = 10;

class ThreadReader {
 public:
  explicit ThreadReader(const Snapshot& snapshot)
      : snapshot_(snapshot), reader_(snapshot), virtual_(reader_.virtual_class()) {
    for (const HeapThread& each : snapshot.threads) by_object_.emplace(each.object, &each);
  }

  Section run(size_t top) {
    Section section{"stacks", "Threads by what they retain"};
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < snapshot_.threads.size(); ++i) {
      const HeapThread& each = snapshot_.threads[i];
      if (each.object != kNoObject || each.stack != kNoObject) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return retained_by(a) > retained_by(b); });
    Table table{"threads",
                "",
                {kRetained,
                 {"stack_bytes", "by its stack", CellKind::kBytes},
                 {"state", "state"},
                 {"waits_for", "waits for", CellKind::kObject},
                 {"thread", "thread"},
                 data_column("serial", CellKind::kNumber),
                 data_column("object", CellKind::kObject)}};
    table.left_out = cut(order, top);
    table.note = "By its stack: what only local variables of its frames keep alive.";
    std::vector<uint32_t> objects;
    for (uint32_t i : order) objects.push_back(snapshot_.threads[i].object);
    const std::vector<ThreadFacts> facts = reader_.read(objects);
    for (size_t i = 0; i < order.size(); ++i) {
      const HeapThread& thread = snapshot_.threads[order[i]];
      table.rows.push_back({retained_by(order[i]), retained(thread.stack), facts[i].state,
                            waits_cell(facts[i]), thread.label(), uint64_t{thread.serial},
                            thread.object == kNoObject ? Cell() : entity_of(snapshot_, thread.object)});
    }
    section.tables.push_back(table);
    take_locals();
    for (uint32_t i : order) add_stack(i, top, &section);
    add_virtual(top, &section);
    return section;
  }

 private:
  uint64_t retained(uint32_t node) const { return snapshot_.retained_by(node); }
  uint64_t retained_by(uint32_t thread) const {
    const HeapThread& each = snapshot_.threads[thread];
    return std::max(retained(each.object), retained(each.stack));
  }

  // What a thread is parked for, and who owns it.
  Cell waits_cell(const ThreadFacts& facts) const {
    if (facts.blocker == kNoObject) return {};
    HeapEntity entity = entity_of(snapshot_, facts.blocker);
    if (facts.owner != kNoObject) {
      const auto known = by_object_.find(facts.owner);
      entity.text += ", held by " + (known == by_object_.end() ? snapshot_.describe(facts.owner)
                                                               : '"' + known->second->label() + '"');
    }
    return entity;
  }

  // Sorts the locals by thread and frame.
  void take_locals() {
    for (const HeapRoot& root : snapshot_.roots) {
      if (is_stack_root(root.tag) && root.thread != kNoThread) locals_.push_back(root);
    }
    std::sort(locals_.begin(), locals_.end(), [&](const HeapRoot& a, const HeapRoot& b) {
      if (a.thread != b.thread) return a.thread < b.thread;
      if (a.frame != b.frame) return a.frame < b.frame;
      const uint64_t left = retained(a.object), right = retained(b.object);
      return left != right ? left > right : a.object < b.object;
    });
  }

  void add_stack(uint32_t index, size_t top, Section* section) const {
    const HeapThread& thread = snapshot_.threads[index];
    const auto trace = snapshot_.outline.names.traces.find(thread.trace);
    const size_t frames = trace == snapshot_.outline.names.traces.end() ? 0 : trace->second.frames.size();
    const size_t shown = top == 0 ? frames : std::min(frames, kFramesMost);
    const HeapRoot first{0, index, 0, 0};
    auto next = std::lower_bound(locals_.begin(), locals_.end(), first,
                                 [](const HeapRoot& a, const HeapRoot& b) { return a.thread < b.thread; });
    Table table{"stack", "", {kRetained, {"frame", "frame"}, kObject}};
    auto add_locals = [&](uint32_t depth, const std::string& frame) {
      size_t count = 0;
      uint32_t last = kNoObject;
      for (; next != locals_.end() && next->thread == index && next->frame <= depth; ++next) {
        if (next->object == last) continue;
        last = next->object;
        if (top != 0 && ++count > kObjectsOfFrame) continue;
        table.rows.push_back({retained(last), frame, entity_of(snapshot_, last)});
      }
      return count;
    };
    for (uint32_t depth = 0; depth < shown; ++depth) {
      const std::string frame = frame_of(snapshot_, thread, depth);
      const size_t before = table.rows.size(), count = add_locals(depth, frame);
      if (table.rows.size() == before) table.rows.push_back({Cell(), frame});
      if (count > kObjectsOfFrame) table.left_out += count - kObjectsOfFrame;
    }
    table.left_out += frames - shown;
    add_locals(UINT32_MAX, "(native code)");
    if (table.rows.empty()) return;
    section->parts.push_back({"thread", "Stack of \"" + thread.label() + "\"", {}, {table}, {}});
  }

  void add_virtual(size_t top, Section* section) {
    if (virtual_ == kNoClass) return;
    std::vector<uint32_t> objects;
    for (uint32_t object = 0; object < snapshot_.numbers.size(); ++object) {
      if (snapshot_.class_of(object) == virtual_ && retained(object) != 0) objects.push_back(object);
    }
    if (objects.empty()) return;
    std::stable_sort(objects.begin(), objects.end(),
                     [&](uint32_t a, uint32_t b) { return retained(a) > retained(b); });
    Section part{"virtual_threads", "Virtual threads"};
    part.text = {count_text(objects.size()) + (objects.size() == 1 ? " is" : " are") +
                 " reachable. One that is not mounted has its frames in the heap."};
    Table table{"virtual_threads",
                "",
                {kRetained,
                 {"state", "state"},
                 {"waits_for", "waits for", CellKind::kObject},
                 {"carrier", "carrier", CellKind::kObject},
                 {"thread", "thread", CellKind::kObject},
                 data_column("name", CellKind::kQuote)}};
    table.left_out = cut(objects, top);
    const std::vector<ObjectValues> values = reader_.fetcher().fetch(objects);
    std::vector<uint32_t> names;
    for (const ObjectValues& each : values) names.push_back(reader_.fetcher().target(each, "name"));
    const std::vector<std::string> texts = reader_.fetcher().texts(names);
    const std::vector<ThreadFacts> facts = reader_.read(objects);
    for (size_t i = 0; i < objects.size(); ++i) {
      const uint32_t carrier = reader_.fetcher().target(values[i], "carrierThread");
      HeapEntity thread = entity_of(snapshot_, objects[i]);
      if (!texts[i].empty()) thread.text += " \"" + printable(texts[i]) + '"';
      table.rows.push_back({retained(objects[i]), facts[i].state, waits_cell(facts[i]),
                            carrier == kNoObject ? Cell() : entity_of(snapshot_, carrier), thread, texts[i]});
    }
    part.tables.push_back(table);
    section->parts.push_back(part);
  }

  const Snapshot& snapshot_;
  ThreadFactReader reader_;
  uint32_t virtual_;  // the class of virtual threads
  IdMap<const HeapThread*> by_object_;
  std::vector<HeapRoot> locals_;
};

}  // namespace

std::string frame_of(const Snapshot& snapshot, const HeapThread& thread, uint32_t depth) {
  auto trace = snapshot.outline.names.traces.find(thread.trace);
  if (trace == snapshot.outline.names.traces.end() || depth >= trace->second.frames.size()) return "";
  auto frame = snapshot.outline.names.frames.find(trace->second.frames[depth]);
  return frame == snapshot.outline.names.frames.end() ? "" : snapshot.outline.names.frame_text(frame->second);
}

Section threads_section(const Snapshot& snapshot, size_t top) { return ThreadReader(snapshot).run(top); }

}  // namespace hprof::tool
