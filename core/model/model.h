// All tables behind service/ids.h: names and numbers of everything that records refer to.
#pragma once

#include "core/base/counters.h"
#include "core/base/memory_account.h"
#include "core/model/class_table.h"
#include "core/model/frame_table.h"
#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/method_map.h"
#include "core/model/method_table.h"
#include "core/model/string_table.h"
#include "core/model/thread_table.h"
#include "core/model/trace_table.h"

namespace hprof {

// Insert-only (except for threads and the method book): a number stays valid and keeps its meaning until
// destroy. Interning is lock-free and calls no malloc; full tables answer kNone and count the loss. It knows
// no VM: a caller with a jclass or jmethodID gets the names from the VM first.
//
// Zeroed memory plus placement new, or a static object, is a Model that holds nothing. Tags, unless said
// otherwise: interning [onload][control][app], look-ups [any]. Functions that samples do not use are cold.
class Model {
 public:
  constexpr Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // memory and losses outlive the model.
  // Without enough address space (containers may limit it) it halves the limits until they fit. False: no
  // memory; nothing is held. [onload]
  [[gnu::cold]] bool create(MemoryAccount& memory, const ModelLimits& limits, LossCounters& losses);
  [[gnu::cold]] void destroy();  // [control], nobody else uses it

  StringId string(Str text);
  Str text(StringId id) const { return strings_.text(id); }  // NUL-terminated; absent: never handed out

  // signature: as in JVMTI. identity: tells classes of one signature apart (class_table.h).
  ClassSerial class_serial(Str signature, uint64_t identity);
  ClassTable& classes() { return classes_; }

  // Folds the class into the first of its stable name (class_table.h).
  MethodId method(ClassSerial owner, Str name, Str signature);
  MethodTable& methods() { return methods_; }
  // Without room it counts the loss.
  bool set_lines(MethodId method, const LineStart* rows, uint32_t count);

  FrameId frame(MethodId method, int32_t line);
  // The frame of a known method, with the line of the bytecode index if line_numbers (lineno=y).
  FrameId frame_at(MethodId method, int64_t bci, bool line_numbers);
  // A method for code without a Java method; the line of its frame is HPROF_LINE_UNKNOWN.
  MethodId synthetic_method(Str class_name, Str method_name);
  FrameId synthetic_frame(Str class_name, Str method_name) {
    return frame(synthetic_method(class_name, method_name), HPROF_LINE_UNKNOWN);
  }

  TraceSerial trace(ThreadSerial thread, const hprof_frame_id* frames, uint32_t count, uint32_t flags = 0);

  // The string for the name of a thread or thread group: ModelLimits::thread_names distinct ones unchanged,
  // then a quarter as many with their digits folded (pool-#-thread-#), then "other thread". So thread names
  // take a bounded part of the string table.
  // `known`: the name so far, which is not counted as lost again.
  StringId thread_name(Str name, StringId known = StringId::kNone);
  ThreadSerial add_thread(
      const ThreadFacts& facts);  // never kNone; counts threads that became the "other thread"
  // True: the live thread had another name.
  bool rename_thread(ThreadSerial serial, Str name);
  ThreadTable& threads() { return threads_; }

  // Enters a jmethodID into the method book; without room it counts the loss.
  bool enter_method(const void* method_id, MethodEntry entry);
  MethodMap& method_map() { return method_map_; }

  // Look-ups for the ABI; nullptr: no such number. [any]
  const ClassInfo* class_info(ClassSerial serial) const { return classes_.info(serial); }
  const MethodInfo* method_info(MethodId id) const { return methods_.info(id); }
  const FrameInfo* frame_info(FrameId id) const { return frames_.info(id); }
  const TraceInfo* trace_info(TraceSerial serial) const { return traces_.info(serial); }

  TraceSerial last_trace() const { return traces_.last(); }
  const ModelLimits& limits() const { return limits_; }

  [[gnu::cold]] static uint64_t room(const ModelLimits& limits);

 private:
  [[gnu::cold]] bool create_tables(MemoryAccount& memory);
  template <class Id>
  Id counted(Id id, Loss loss) {
    if (id == Id::kNone) losses_->add(loss);
    return id;
  }
  StringId bounded_name(Str name, std::atomic<uint32_t>* names, uint32_t most);

  StringTable strings_;
  ClassTable classes_;
  MethodTable methods_;
  FrameTable frames_;
  TraceTable traces_;
  ThreadTable threads_;
  MethodMap method_map_;
  LossCounters* losses_ = nullptr;
  ModelLimits limits_{};
  std::atomic<uint32_t> thread_names_{0};
  std::atomic<uint32_t> folded_names_{0};
};

}  // namespace hprof
