// SPDX-License-Identifier: Apache-2.0
// What a unit has for the calling thread's stack, such as its trace: found by the raw frames, with one call of JVMTI.
//
// A stack's inner frames that belong in no trace (of the JDK, of an exception's constructors) are skipped; `depth` frames
// follow. Mostly few are skipped, so few frames are asked for at first; where these do not decide the trace, that is
// kept, too, and more are asked for. A slot of the table is read and written without a lock: it holds a number, and the
// number XORed with the hash of the frames, so a slot of two writers matches no stack. All is valid until a class is
// unloaded or redefined.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/draft/vm_counts.h>

namespace hprof {

class CurrentStacks {
 public:
  // Frames of a trace at most, and of those that are skipped.
  static constexpr uint32_t kMostFrames = 512, kMostInner = 16;

  // hidden: frames of probes on top of each stack. inner: frames asked for at first, beyond the depth. False: no memory,
  // or no JVMTI. [onload]
  bool open(const Services& services, const char* unit, uint32_t hidden, uint32_t inner = kFewInner) {
    services_ = services;
    if (services.jvm != nullptr) jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
    vm_counts_ = find_service<hprof_vm_counts_service>(services.host, HPROF_SERVICE_VM_COUNTS);
    depth_ = depth_within(services, unit, services.settings().depth, kMostFrames);
    hidden_ = static_cast<jint>(hidden);
    asked_ = depth_ + inner;
    slots_ = services.allocate<Slot>(kSlots);
    return jvmti_ != nullptr && slots_ != nullptr;
  }
  // Finds the VM's counts, once it runs. Without a count of unloaded classes nothing is kept. [control]
  void start() {
    if (unloads_ != nullptr || vm_counts_ == nullptr || services_.probes == nullptr) return;
    redefinitions_ = services_.probes->redefinitions(services_.host);
    unloads_ = vm_counts_->unloads(services_.host);
  }
  void close() {
    services_.release(slots_, kSlots);
    slots_ = nullptr;
  }

  // skips(raw, frame): whether a frame belongs in no trace; asked from the innermost frame on, until it is false. A stack
  // of such frames only is shown whole.
  // number(trace): what is kept for the stack, from 1 to UINT64_MAX - 1; 0: nothing. Both must depend on nothing but the
  // frames and `thread` (whose traces are its own; 0: of all threads). A trace of 0 has no frames.
  // Returns the number. [app] of a native method
  template <class Skips, class Number>
  uint64_t current(JNIEnv* jni, hprof_thread_serial thread, const Skips& skips, const Number& number) {
    Stack stack;
    uint64_t known = find(asked_, thread, &stack);
    if (known == kNeedsMore) known = find(depth_ + kMostInner, thread, &stack);
    return known != 0 ? known : add(jni, thread, &stack, skips, number);
  }

 private:
  static constexpr uint32_t kSlots = 4096;  // a power of two
  static constexpr uint32_t kFewInner = 5;
  static constexpr uint64_t kNeedsMore = UINT64_MAX;
  struct Slot {
    std::atomic<uint64_t> number, number_and_hash;  // the second: exclusive or of both
  };
  struct Stack {
    uint32_t asked, count;
    uint64_t hash;  // 0: nothing can be kept
    jvmtiFrameInfo frames[kMostFrames + kMostInner];
  };

  // What is kept of the top `asked` frames; 0: nothing.
  uint64_t find(uint32_t asked, hprof_thread_serial thread, Stack* stack) const {
    jint count = 0;
    stack->asked = asked;
    if (jvmti_->GetStackTrace(nullptr, hidden_, static_cast<jint>(asked), stack->frames, &count) != JVMTI_ERROR_NONE)
      count = 0;
    stack->count = static_cast<uint32_t>(count);
    stack->hash = 0;
    if (unloads_ == nullptr) return 0;
    uint64_t hash = mix(uint64_t{thread} << 32 | asked, stack->count);
    hash = mix(hash, uint64_t{__atomic_load_n(redefinitions_, __ATOMIC_RELAXED)} << 32 |
                         __atomic_load_n(unloads_, __ATOMIC_RELAXED));
    for (uint32_t i = 0; i < stack->count; i++) {
      hash = mix(hash, reinterpret_cast<uintptr_t>(stack->frames[i].method));
      hash = mix(hash, static_cast<uint64_t>(stack->frames[i].location));
    }
    stack->hash = hash;
    const Slot& slot = slots_[hash >> 40 & (kSlots - 1)];
    const uint64_t number = slot.number.load(std::memory_order_relaxed);
    return (slot.number_and_hash.load(std::memory_order_relaxed) ^ number) == hash ? number : 0;
  }
  void keep(const Stack& stack, uint64_t number) {
    if (stack.hash == 0) return;
    Slot& slot = slots_[stack.hash >> 40 & (kSlots - 1)];
    slot.number.store(number, std::memory_order_relaxed);
    slot.number_and_hash.store(number ^ stack.hash, std::memory_order_relaxed);
  }

  template <class Skips, class Number>
  [[gnu::noinline]] uint64_t add(JNIEnv* jni, hprof_thread_serial thread, Stack* stack, const Skips& skips,
                                 const Number& number) {
    hprof_frame_id frames[kMostFrames + kMostInner];
    uint32_t inner = name(jni, *stack, skips, frames);
    if (!decides(*stack, inner) && stack->asked < depth_ + kMostInner) {
      keep(*stack, kNeedsMore);
      const uint64_t known = find(depth_ + kMostInner, thread, stack);
      if (known != 0) return known;
      inner = name(jni, *stack, skips, frames);
    }
    const bool is_decided = decides(*stack, inner);
    if (inner == stack->count) inner = 0;
    const uint32_t count = stack->count - inner < depth_ ? stack->count - inner : depth_;
    hprof_trace_serial trace = 0;
    if (count != 0)
      trace = services_.ids->trace(services_.host, thread, frames + inner, count, trace_flags(count, depth_));
    const uint64_t known = number(trace);
    if (is_decided) keep(*stack, known);
    return known;
  }
  // True: the frames below would not change the trace.
  bool decides(const Stack& stack, uint32_t inner) const {
    return stack.count < stack.asked || (inner < stack.count && inner + depth_ <= stack.count);
  }
  // The ids of the frames that are skipped, and of the trace. Returns how many are skipped.
  template <class Skips>
  uint32_t name(JNIEnv* jni, const Stack& stack, const Skips& skips, hprof_frame_id* frames) const {
    uint32_t inner = 0;
    for (uint32_t i = 0; i < stack.count && (i == inner || i < inner + depth_); i++) {
      const hprof_raw_frame raw = {stack.frames[i].method, stack.frames[i].location};
      frames[i] = services_.ids->frame(services_.host, jni, &raw, 1);
      if (inner == i && skips(stack.frames[i], frames[i])) inner++;
    }
    return inner;
  }

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  const hprof_vm_counts_service* vm_counts_ = nullptr;
  const uint32_t* unloads_ = nullptr;  // null: this VM does not count them
  const uint32_t* redefinitions_ = nullptr;
  Slot* slots_ = nullptr;
  uint32_t depth_ = 0, asked_ = 0;
  jint hidden_ = 0;
};

}  // namespace hprof
