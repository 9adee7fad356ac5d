#include "core/model/model.h"

#include "core/base/text_tools.h"
#include "core/model/class_names.h"

namespace hprof {
namespace {

// The identity of classes that the agent makes up; no caller uses it.
constexpr uint64_t kSynthetic = 0x73796e7468657469ull;
constexpr size_t kLongestThreadName = 256;

void put_digits_folded(Str name, TextWriter& folded) {
  for (size_t i = 0; i < name.size; ++i) {
    if (!is_digit(name[i])) {
      folded.put(name[i]);
    } else if (i == 0 || !is_digit(name[i - 1])) {
      folded.put('#');
    }
  }
}

}  // namespace

// [[gnu::cold]]: compiled for size, unlike the rest of this file.
[[gnu::cold]] bool Model::create(MemoryAccount& memory, const ModelLimits& limits, LossCounters& losses) {
  losses_ = &losses;
  limits_ = limits;
  while (!create_tables(memory)) {
    destroy();
    if (!limits_.halve()) return false;
  }
  return true;
}

[[gnu::cold]] bool Model::create_tables(MemoryAccount& memory) {
  const ModelLimits& l = limits_;
  return strings_.create(memory, l.strings, l.text_bytes, l.backing) &&
         classes_.create(memory, l.classes, l.backing, strings_) &&
         methods_.create(memory, l.methods, l.line_table_bytes, l.backing, classes_) &&
         frames_.create(memory, l.frames, l.backing) &&
         traces_.create(memory, l.traces, l.trace_bytes, l.backing) &&
         threads_.create(memory, l.threads, l.backing) && method_map_.create(memory, l.method_map, l.backing);
}

[[gnu::cold]] void Model::destroy() {
  method_map_.destroy();
  threads_.destroy();
  traces_.destroy();
  frames_.destroy();
  methods_.destroy();
  classes_.destroy();
  strings_.destroy();
  thread_names_.store(0, std::memory_order_relaxed);
  folded_names_.store(0, std::memory_order_relaxed);
}

StringId Model::string(Str text) {
  if (!text.data) return StringId::kNone;
  return counted(strings_.intern(text), Loss::kLostStrings);
}

ClassSerial Model::class_serial(Str signature, uint64_t identity) {
  return counted(classes_.intern(signature, identity), Loss::kLostClasses);
}

MethodId Model::method(ClassSerial owner, Str name, Str signature) {
  return counted(methods_.intern(owner, string(name), string(signature)), Loss::kLostMethods);
}

bool Model::set_lines(MethodId method, const LineStart* rows, uint32_t count) {
  const bool done = methods_.set_lines(method, rows, count);
  if (!done) losses_->add(Loss::kLostLineTables);
  return done;
}

FrameId Model::frame(MethodId method, int32_t line) {
  return counted(frames_.intern(method, line), Loss::kLostFrames);
}

FrameId Model::frame_at(MethodId method, int64_t bci, bool line_numbers) {
  const int32_t without = bci < 0 ? HPROF_LINE_NATIVE : HPROF_LINE_NONE;
  return frame(method, line_numbers ? methods_.line_of(method, bci) : without);
}

[[gnu::cold]] MethodId Model::synthetic_method(Str class_name, Str method_name) {
  char buffer[512];
  TextWriter signature(buffer, sizeof buffer);
  write_signature(class_name.part(0, sizeof buffer - 3), signature);
  const ClassSerial owner = class_serial(signature.text(), kSynthetic);
  return method(owner, method_name, "");
}

TraceSerial Model::trace(ThreadSerial thread, const hprof_frame_id* frames, uint32_t count, uint32_t flags) {
  return counted(traces_.intern(thread, frames, count, flags), Loss::kLostTraces);
}

// The name as a string, unless there are `most` names of its kind already.
[[gnu::cold]] StringId Model::bounded_name(Str name, std::atomic<uint32_t>* names, uint32_t most) {
  const StringId known = strings_.find(name);
  if (known != StringId::kNone) return known;
  if (names->load(std::memory_order_relaxed) >= most) return StringId::kNone;
  bool created = false;
  const StringId id = strings_.intern(name, &created);
  if (created) names->fetch_add(1, std::memory_order_relaxed);
  return id;
}

[[gnu::cold]] StringId Model::thread_name(Str name, StringId known) {
  if (!name.data) return StringId::kNone;
  const Str kept = name.size > kLongestThreadName ? name.part(0, kLongestThreadName) : name;
  const StringId id = bounded_name(kept, &thread_names_, limits_.thread_names);
  if (id != StringId::kNone) return id;
  char buffer[kLongestThreadName + 1];
  TextWriter folded(buffer, sizeof buffer);
  put_digits_folded(kept, folded);
  StringId shorter = bounded_name(folded.text(), &folded_names_, limits_.thread_names / 4);
  if (shorter == StringId::kNone) shorter = string("other thread");
  if (shorter != known) losses_->add(Loss::kLostThreadNames);
  return shorter;
}

[[gnu::cold]] bool Model::rename_thread(ThreadSerial serial, Str name) {
  ThreadInfo info;
  if (!name.data || threads_.is_other(serial) || !threads_.get(serial, &info)) return false;
  const StringId id = thread_name(name, StringId{info.name});
  return id != StringId::kNone && threads_.set_name(serial, id);
}

ThreadSerial Model::add_thread(const ThreadFacts& facts) {
  bool folded = false;
  const ThreadSerial serial = threads_.add(facts, &folded);
  if (folded) losses_->add(Loss::kLostThreads);
  return serial;
}

bool Model::enter_method(const void* method_id, MethodEntry entry) {
  const bool entered = method_map_.insert(method_id, entry);
  if (!entered) losses_->add(Loss::kLostMethodBook);
  return entered;
}

[[gnu::cold]] uint64_t Model::room(const ModelLimits& l) {
  return StringTable::room(l.strings, l.text_bytes) + ClassTable::room(l.classes) +
         MethodTable::room(l.methods, l.line_table_bytes) + FrameTable::room(l.frames) +
         TraceTable::room(l.traces, l.trace_bytes) + ThreadTable::room(l.threads) +
         MethodMap::room(l.method_map);
}

}  // namespace hprof
