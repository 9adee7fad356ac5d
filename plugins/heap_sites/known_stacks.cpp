#include "known_stacks.h"

#include <hprof/cpp/text.hpp>
#include <hprof/cpp/vm_flags.hpp>
#include <hprof/plugin.h>

namespace hprof::sites {

static constexpr uint32_t kLongStack = 48;  // frames that the VM is asked for when the walk can learn more

void KnownStacks::open(const HotSpotServices& services) {
  services_ = services;
  wrong_walks_ = wrong_walks_counter(services);
}

void KnownStacks::close_thread(StackThread* thread) const {
  thread->stacks.close(services_);
  thread->callers.close(services_);
  thread->names.close(services_);
  thread->methods.close(services_);
  thread->classes.close(services_);
  hprof_walk_thread& walk = thread->walk;
  if (walk.seen != nullptr) services_.release(static_cast<uint8_t*>(walk.seen), services_.walk->seen_bytes);
  if (walk.chains != nullptr)
    services_.release(static_cast<uint8_t*>(walk.chains), services_.walk->chains_bytes);
}

// Gives a thread its caches after some allocations, so that other threads take little memory.
void KnownStacks::give_memory(StackThread* thread) const {
  constexpr uint32_t kEnough = 4096;
  thread->walks++;
  if (thread->walks == kEnough) thread->walk.seen = services_.allocate<uint8_t>(services_.walk->seen_bytes);
  if (thread->walks == kMany) thread->walk.chains = services_.allocate<uint8_t>(services_.walk->chains_bytes);
}

bool KnownStacks::watch_classes(const uint32_t* collections) {
  const HotSpotServices& s = services_;
  const uint32_t* unloads = nullptr;
  collections_ = collections;
  if (s.vm_counts != nullptr) {
    unloads = s.vm_counts->unloads(s.host);
    const uint32_t* of_vm = s.vm_counts->collections(s.host);
    if (of_vm != nullptr) collections_ = of_vm;
  }
  unloads_ = unloads != nullptr ? unloads : collections_;
  sees_unloads_ =
      unloads != nullptr || vm_flag(s, "UseG1GC") || vm_flag(s, "UseSerialGC") || vm_flag(s, "UseParallelGC");
  if (s.probes != nullptr) redefinitions_ = s.probes->redefinitions(s.host);
  return sees_unloads_;
}

// Opens the walk, and hides the frames of probes: each is called, and hides its own frame.
void KnownStacks::open_walk(JNIEnv* jni) {
  const HotSpotServices& s = services_;
  const char* why = "the VM does not report unloaded classes in time";
  if (sees_unloads_ && s.walk != nullptr) opened_walk_ = s.walk->open(s.host, jni, &why);
  bool is_known = opened_walk_ != nullptr;
  for (uint32_t i = 0; is_known && i < AllocationStacks::probe_count(); i++) {
    is_known = false;
    vm_.call_in_probe(jni, i, [&] { is_known = s.walk->hide(opened_walk_, jni, vm_.probe(i)) != 0; });
    why = "its own frames were not found";
  }
  if (is_known) {
    if ((s.settings().granted & HPROF_NEED_GC_EVENTS) != 0) s.walk->trust_code(opened_walk_, collections_);
    walk_.store(opened_walk_);
    return;
  }
  TextLine<200> line;
  s.log->detail(s.host, line.add("heap=sites: the VM is asked for each stack: ").add(why).c_str());
}

void KnownStacks::distrust() {
  count_loss(wrong_walks_);
  walk_.store(nullptr, std::memory_order_relaxed);
  services_.walk->distrust(opened_walk_);
}

// Key of a frame; 0: do not keep it. The method is the VM's own pointer or a jmethodID, which never coincide.
// A bytecode index has 16 bits and is never 65535, which stands for -1.
static uint64_t key_of(const hprof_raw_frame& frame) {
  constexpr uint32_t kAddressBits = 48;
  const uint64_t method = reinterpret_cast<uintptr_t>(frame.method);
  const bool fits = method >> kAddressBits == 0 && frame.location >= -1 && frame.location < UINT16_MAX;
  return fits ? method | static_cast<uint64_t>(frame.location) << kAddressBits : 0;
}

static hprof_frame_id name_of(const StackThread& thread, const hprof_raw_frame& frame) {
  const uint64_t key = key_of(frame);
  const hprof_frame_id* name = key != 0 ? thread.names.find(key) : nullptr;
  return name != nullptr ? *name : 0;
}

void KnownStacks::keep_name(StackThread* thread, const hprof_raw_frame& frame, hprof_frame_id name) const {
  const uint64_t key = key_of(frame);
  if (key != 0 && name != 0) thread->names.put(services_, key, name);
}

uint32_t KnownStacks::forget_stale(StackThread* thread) const {
  const uint32_t now = epoch();
  if (thread->epoch == now) return now;
  thread->epoch = now;
  thread->callers.clear();
  thread->names.clear();
  thread->methods.clear();
  thread->classes.clear();
  return now;
}

// The walk's frames of the stack, with the ids of those that the thread has met, or at least their methods.
uint32_t KnownStacks::compose(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_raw_frame* walked,
                              hprof_frame_id* ids, bool* is_complete) const {
  hprof_walk* walk = walk_.load(std::memory_order_relaxed);
  const uint32_t learns = name_proofs_.are_past_first() ? 1 : 0;
  uint32_t count = 0;
  if (walk != nullptr) count = services_.walk->frames(walk, jni, depth, learns, walked, &thread->walk);
  *is_complete = count != 0;
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = name_of(*thread, walked[i]);
    void** method =
        ids[i] == 0 ? thread->methods.find(reinterpret_cast<uintptr_t>(walked[i].method)) : nullptr;
    if (method != nullptr) {
      const hprof_raw_frame frame = {*method, walked[i].location};
      ids[i] = services_.ids->frame(services_.host, jni, &frame, 1);
      keep_name(thread, walked[i], ids[i]);
    }
    *is_complete = *is_complete && ids[i] != 0;
  }
  return count;
}

// Asks the VM only if the thread has not met one of the methods before, in any stack, or to prove an answer.
uint32_t KnownStacks::name(JNIEnv* jni, StackThread* thread, uint32_t depth, hprof_frame_id* ids) {
  hprof_raw_frame walked[AllocationStacks::kMostFrames];
  bool is_composed = false;
  forget_stale(thread);
  const uint32_t count = compose(jni, thread, depth, walked, ids, &is_composed);
  if (is_composed && !name_proofs_.wants(&thread->until_name_proof)) return count;
  thread->asked[is_composed ? kAskedProof : kAskedNew]++;
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  hprof_frame_id names[AllocationStacks::kMostFrames];
  const uint32_t vm_count = vm_.of_current(frames);
  if (thread->walk.seen != nullptr) learn(jni, thread, frames, vm_count);
  for (uint32_t i = 0; i < vm_count; i++) {
    const hprof_raw_frame frame = {frames[i].method, frames[i].location};
    names[i] = is_composed ? 0 : name_of(*thread, frame);
    if (names[i] != 0) continue;
    vm_.name(jni, frames + i, 1, names + i);
    keep_name(thread, frame, names[i]);
  }
  bool agrees = count == vm_count && count != 0;
  for (uint32_t i = 0; agrees && i < count; i++)
    agrees = walked[i].location == frames[i].location && (ids[i] == 0 || ids[i] == names[i]);
  if (is_composed && !agrees) distrust();
  for (uint32_t i = 0; i < vm_count; i++) {
    if (agrees) keep_name(thread, walked[i], names[i]);
    // In a native method the walk's location may be a position that the VM does not report.
    if (agrees && frames[i].location >= 0)
      thread->methods.put(services_, reinterpret_cast<uintptr_t>(walked[i].method), frames[i].method);
    ids[i] = names[i];
  }
  return vm_count;
}

void KnownStacks::learn(JNIEnv* jni, StackThread* thread, const jvmtiFrameInfo* frames,
                        uint32_t count) const {
  hprof_walk* walk = walk_.load(std::memory_order_acquire);
  if (walk == nullptr) return;
  const auto learn_from = [&](const jvmtiFrameInfo* from, uint32_t number) {
    return services_.walk->learn(walk, jni, reinterpret_cast<const hprof_raw_frame*>(from), number,
                                 &thread->walk);
  };
  if (learn_from(frames, count) == 0 || count < vm_.depth()) return;
  // The trace ends inside a group of inlined methods; more frames tell which group.
  jvmtiFrameInfo more[kLongStack];
  if (count < kLongStack) learn_from(more, vm_.of_current(more, kLongStack));
}

// Callers of native methods.

// Keyed by the native method and its caller. Millions of objects may come this way (in javac on JDK 25, most
// of them reported by a probe; few on 17).
bool KnownStacks::is_reported_by_caller(JNIEnv* jni, StackThread* thread) {
  const uint64_t key = this->key(jni, thread, 2, 0);
  forget_stale(thread);
  const bool* known = key != 0 ? thread->callers.find(key) : nullptr;
  if (known != nullptr && !wants_proof(thread)) return *known;
  thread->asked[kAskedVmObject]++;
  const bool reports = vm_.is_reported_by_caller();
  if (known != nullptr && reports != *known) distrust();
  if (key != 0) thread->callers.put(services_, key, reports);
  return reports;
}

}  // namespace hprof::sites
