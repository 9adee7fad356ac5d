// SPDX-License-Identifier: Apache-2.0
// What a unit has for the calling thread's stack, such as its trace: found by a walk over the raw frames (draft/walk.h) that
// does not ask the VM or, where that knows no answer, with one call of JVMTI.
//
// A stack's inner frames that belong in no trace (of the JDK, of an exception's constructors) are skipped; `depth` frames
// follow. Mostly few are skipped, so few frames are asked for at first; where these do not decide the trace, that is
// kept, too, and more are asked for. A slot of the table is read and written without a lock: it holds a number, and the
// number XORed with the key of the frames, so a slot of two writers matches no stack. All is valid until a class is
// unloaded or redefined. The first known answers of the walk, and a few later ones, are compared with the VM's: a
// difference ends its use.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/proofs.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/walk.h>

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
    walks_ = find_service<hprof_walk_service>(services.host, HPROF_SERVICE_WALK);
    wrong_walks_ = wrong_walks_counter(services);
    depth_ = depth_within(services, unit, services.settings().depth, kMostFrames);
    hidden_ = static_cast<jint>(hidden);
    asked_ = depth_ + inner;
    slots_ = services.allocate<Slot>(kSlots);
    return jvmti_ != nullptr && slots_ != nullptr;
  }
  // Finds the VM's counts and opens the walk, once the VM runs. Without a count of unloaded classes nothing is kept.
  // [control]
  void start() {
    if (unloads_ != nullptr || vm_counts_ == nullptr || services_.probes == nullptr) return;
    redefinitions_ = services_.probes->redefinitions(services_.host);
    unloads_ = vm_counts_->unloads(services_.host);
    const char* why = nullptr;
    if (unloads_ != nullptr && walks_ != nullptr)
      walk_.store(walks_->open(services_.host, services_.jvm->jni(services_.host), &why));
  }
  void close() {
    services_.release(slots_, kSlots);
    slots_ = nullptr;
    for (Part& part : parts_) {
      if (part.walk.seen == nullptr) continue;
      services_.release(static_cast<uint8_t*>(part.walk.seen), walks_->seen_bytes);
      part.walk.seen = nullptr;
    }
  }

  // skips(raw, frame): whether a frame belongs in no trace; asked from the innermost frame on, until it is false. A stack
  // of such frames only is shown whole.
  // number(trace): what is kept for the stack, from 1 to UINT64_MAX - 1; 0: nothing. Both must depend on nothing but the
  // frames and `thread` (whose traces are its own; 0: of all threads). A trace of 0 has no frames.
  // Returns the number. [app] of a native method
  template <class Skips, class Number>
  uint64_t current(JNIEnv* jni, hprof_thread_serial thread, const Skips& skips, const Number& number) {
    Walked few = walk(jni, asked_, thread), more = {};
    if (few.number == kNeedsMore) more = walk(jni, depth_ + kMostInner, thread);
    const Walked& last = few.number == kNeedsMore ? more : few;
    if (last.number != 0 && !last.wants_proof) return last.number;
    const Answer answer = ask(jni, thread, skips, number);
    if (last.number != 0 && answer.number != 0 && last.number != answer.number) {
      distrust();
    } else if (answer.is_kept && few.key != 0) {
      if (answer.asked != asked_ && few.number == 0) {
        keep(few.key, kNeedsMore);
        more = walk(jni, answer.asked, thread);
      }
      keep(answer.asked == asked_ ? few.key : more.key, answer.number);
    }
    return answer.number;
  }

 private:
  static constexpr uint32_t kSlots = 4096;  // a power of two
  static constexpr uint32_t kFewInner = 5;
  static constexpr uint64_t kNeedsMore = UINT64_MAX;
  static constexpr uint64_t kOfWalk = UINT64_MAX;  // in place of a number of frames
  static constexpr uint32_t kPartBits = 4;
  static constexpr uint32_t kMany = 1024;  // walks after which a part gets its memory
  struct Slot {
    std::atomic<uint64_t> number, number_and_hash;  // the second: exclusive or of both
  };
  // What threads have together whose JNIEnvs have one hash; one of them at a time uses it, others meanwhile do without.
  struct Part {
    std::atomic<uint32_t> is_used;
    uint32_t walks;  // up to kMany
    uint32_t until_proof;
    hprof_walk_thread walk;
    uint32_t unused[6];  // up to a cache line
  };
  struct Walked {
    uint64_t key;     // 0: ask the VM
    uint64_t number;  // what is kept; 0: nothing
    bool wants_proof;
  };
  struct Answer {
    uint64_t number;
    uint32_t asked;
    bool is_kept;
  };
  struct Stack {
    uint32_t asked, count;
    uint64_t hash;  // 0: nothing can be kept
    jvmtiFrameInfo frames[kMostFrames + kMostInner];
  };

  // What is kept of the frames with that key; 0: nothing.
  uint64_t kept(uint64_t key) const {
    const Slot& slot = slots_[key >> 40 & (kSlots - 1)];
    const uint64_t number = slot.number.load(std::memory_order_relaxed);
    return (slot.number_and_hash.load(std::memory_order_relaxed) ^ number) == key ? number : 0;
  }
  void keep(uint64_t key, uint64_t number) {
    if (key == 0) return;
    Slot& slot = slots_[key >> 40 & (kSlots - 1)];
    slot.number.store(number, std::memory_order_relaxed);
    slot.number_and_hash.store(number ^ key, std::memory_order_relaxed);
  }
  // The beginning of a key of so many frames.
  uint64_t seed(uint32_t asked, hprof_thread_serial thread, uint64_t more) const {
    const uint64_t hash = mix(uint64_t{thread} << 32 | asked, more);
    return mix(hash, uint64_t{__atomic_load_n(redefinitions_, __ATOMIC_RELAXED)} << 32 |
                         __atomic_load_n(unloads_, __ATOMIC_RELAXED));
  }

  // Frames of probes belong to the key. A frame of the machine is at least one of a trace, so the key covers `asked` of these.
  Walked walk(const JNIEnv* jni, uint32_t asked, hprof_thread_serial thread) {
    hprof_walk* walk = walk_.load(std::memory_order_acquire);
    if (walk == nullptr) return {};
    Part& part = parts_[mix(0, reinterpret_cast<uintptr_t>(jni)) >> (64 - kPartBits)];
    const bool has_part = part.is_used.exchange(1, std::memory_order_acquire) == 0;
    hprof_walk_thread without = {};
    if (has_part && part.walks < kMany && ++part.walks == kMany)
      part.walk.seen = services_.allocate<uint8_t>(walks_->seen_bytes);
    Walked walked = {};
    const uint64_t frames = walks_->key(walk, jni, asked + static_cast<uint32_t>(hidden_), 0, has_part ? &part.walk : &without);
    if (frames != 0) walked.key = mix(seed(asked, thread, kOfWalk), frames);
    if (frames != 0) walked.number = kept(walked.key);
    if (has_part && walked.number != 0 && walked.number != kNeedsMore) walked.wants_proof = proofs_.wants(&part.until_proof);
    if (has_part) part.is_used.store(0, std::memory_order_release);
    return walked;
  }
  [[gnu::cold]] void distrust() {
    hprof_walk* walk = walk_.exchange(nullptr);
    if (walk == nullptr) return;
    count_loss(wrong_walks_);
    walks_->distrust(walk);
  }

  // Asks the VM for the stack.
  template <class Skips, class Number>
  [[gnu::noinline]] Answer ask(JNIEnv* jni, hprof_thread_serial thread, const Skips& skips, const Number& number) {
    Stack stack;
    uint64_t known = find(asked_, thread, &stack);
    if (known == kNeedsMore) known = find(depth_ + kMostInner, thread, &stack);
    bool is_kept = known != 0;
    if (known == 0) known = add(jni, thread, &stack, skips, number, &is_kept);
    return {known, stack.asked, is_kept && known != 0};
  }
  // What is kept of the top `asked` frames; 0: nothing.
  uint64_t find(uint32_t asked, hprof_thread_serial thread, Stack* stack) const {
    jint count = 0;
    stack->asked = asked;
    if (jvmti_->GetStackTrace(nullptr, hidden_, static_cast<jint>(asked), stack->frames, &count) != JVMTI_ERROR_NONE)
      count = 0;
    stack->count = static_cast<uint32_t>(count);
    stack->hash = 0;
    if (unloads_ == nullptr) return 0;
    uint64_t hash = seed(asked, thread, stack->count);
    for (uint32_t i = 0; i < stack->count; i++) {
      hash = mix(hash, reinterpret_cast<uintptr_t>(stack->frames[i].method));
      hash = mix(hash, static_cast<uint64_t>(stack->frames[i].location));
    }
    stack->hash = hash;
    return kept(hash);
  }

  template <class Skips, class Number>
  [[gnu::noinline]] uint64_t add(JNIEnv* jni, hprof_thread_serial thread, Stack* stack, const Skips& skips,
                                 const Number& number, bool* is_kept) {
    hprof_frame_id frames[kMostFrames + kMostInner];
    uint32_t inner = name(jni, *stack, skips, frames);
    if (!decides(*stack, inner) && stack->asked < depth_ + kMostInner) {
      keep(stack->hash, kNeedsMore);
      const uint64_t known = find(depth_ + kMostInner, thread, stack);
      *is_kept = known != 0;
      if (known != 0) return known;
      inner = name(jni, *stack, skips, frames);
    }
    *is_kept = decides(*stack, inner) && unloads_ != nullptr;
    if (inner == stack->count) inner = 0;
    const uint32_t count = stack->count - inner < depth_ ? stack->count - inner : depth_;
    hprof_trace_serial trace = 0;
    if (count != 0)
      trace = services_.ids->trace(services_.host, thread, frames + inner, count, trace_flags(count, depth_));
    const uint64_t known = number(trace);
    if (*is_kept) keep(stack->hash, known);
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
  const hprof_walk_service* walks_ = nullptr;
  std::atomic<hprof_walk*> walk_{nullptr};  // null: each stack comes from the VM
  uint64_t* wrong_walks_ = nullptr;
  Proofs proofs_{1000, 1u << 14};
  Part parts_[1u << kPartBits] = {};
  uint32_t depth_ = 0, asked_ = 0;
  jint hidden_ = 0;
};

}  // namespace hprof
