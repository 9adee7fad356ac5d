#include "wall_virtual.h"

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::samples {

// Owners of structured scopes whose threads are drawn in a turn.
static constexpr uint64_t kMostOwners = 64;
// Frames of the JDK's scheduler on top of a virtual thread's stack.
static constexpr jint kMostOfScheduler = 8;

void WallVirtual::open(Shared* shared, jvmtiEnv* jvmti, JNIEnv* jni, WallCounts* counts) {
  shared_ = shared;
  jvmti_ = jvmti;
  counts_ = counts;
  const Services& s = shared->services;
  // Names of virtual threads are not known, so that only `*` covers them.
  if (covers(shared->thread_names, {})) waiting_.open(s, jni, s.clock->monotonic(s.host));
  time_.open(s.clock->monotonic(s.host));
}

// All owners of structured scopes, or as many at random.
void WallVirtual::follow_owners(JNIEnv* jni, WallTurns& turns, WallThreads& owners) {
  const uint64_t live = owners.live();
  const uint64_t share = live > kMostOwners ? kMostOwners : live;
  for (uint32_t i = 1; i <= owners.last() && share != 0; i++) {
    WallThread& thread = owners.at(i);
    if (thread.serial.load(std::memory_order_acquire) == 0 || turns.random() % live >= share) continue;
    const LocalFrame frame(jni, 16);
    jobject owner = frame.is_open() ? without_exception(jni, jni->NewLocalRef(thread.reference)) : nullptr;
    if (owner != nullptr)
      waiting_.follow_scopes(jni, static_cast<jthread>(owner),
                             static_cast<double>(live) / static_cast<double>(share));
  }
}

void WallVirtual::turn(JNIEnv* jni, WallTurns& turns, WallThreads& owners) {
  counts_->facts.finds_virtual = waiting_.is_open();
  if (!waiting_.is_open()) return;
  const Services& s = shared_->services;
  shared_->book.begin_draw();
  for_ns_ = time_.begin(s.clock->monotonic(s.host));
  const uint32_t most = turns.most_samples();
  waiting_.turn(jni, most < kMostDrawn ? most : kMostDrawn, &WallVirtual::visit, this);
  follow_owners(jni, turns, owners);
  waiting_.end_turn();
  time_.end(waiting_.known(), waiting_.estimated(), waiting_.met());
  counts_->facts.in_sets += time_.found();
  shared_->book.end_draw();
}

// How many of the first frames are the scheduler's: LockSupport.park, Thread.sleep and the like come after
// them.
static uint32_t frames_of_scheduler(const Services& s, JNIEnv* jni, const jvmtiFrameInfo* frames,
                                    uint32_t count, bool* sleeps) {
  for (uint32_t i = 0; i < count; i++) {
    const hprof_frame_id frame = frame_of(s, jni, frames[i]);
    const hprof_text owner = class_name_of(s.ids, s.host, frame);
    const bool is_of_it = begins_with(owner, "java.lang.VirtualThread") ||
                          begins_with(owner, "java.lang.System$") || begins_with(owner, "jdk.internal.");
    if (is_of_it) continue;
    const auto method = find_method(s.ids, s.host, find_frame(s.ids, s.host, frame)->method);
    *sleeps = begins_with(s.ids->string_text(s.host, method->name), "sleep");
    return i;
  }
  return 0;
}

void WallVirtual::count(JNIEnv* jni, jthread thread, const jvmtiStackInfo& stack, jint depth,
                        double stands_for) {
  SampleBook& book = shared_->book;
  const auto count = static_cast<uint32_t>(stack.frame_count);
  bool sleeps = false;
  const uint32_t first = frames_of_scheduler(shared_->services, jni, stack.frame_buffer,
                                             count < kMostOfScheduler ? count : kMostOfScheduler, &sleeps);
  JavaState java = java_state(stack.state);
  if (java == JavaState::kRunnable || java == JavaState::kNative) java = JavaState::kQueued;
  if (java == JavaState::kParked && sleeps) java = JavaState::kSleeping;  // the VM says parked
  const hprof_frame_id state = counts_->frame_of(java);
  const auto* frames = reinterpret_cast<const hprof_raw_frame*>(stack.frame_buffer + first);
  const hprof_trace_serial trace = count != 0
                                       ? book.trace_of(jni, 0, frames, count - first, state)
                                       : book.trace_of(0, depth == 0 ? kDepthZero : kNoJavaFrame, state);
  const auto interval = static_cast<double>(shared_->interval_ns);
  open_ns_ += for_ns_ * stands_for;
  const auto weight = static_cast<uint64_t>(open_ns_ / interval);
  open_ns_ -= static_cast<double>(weight) * interval;
  counts_->facts.drawn++;
  if (weight != 0)
    book.add({0, book.events.now(), state_of(java), book.events.of(0, jni, thread), HPROF_FRAME_UNKNOWN,
              book.virtual_threads.of(jni, thread)},
             trace, weight);
}

void WallVirtual::visit(void* argument, JNIEnv* jni, jthread thread, double stands_for) {
  auto* self = static_cast<WallVirtual*>(argument);
  const auto depth = static_cast<jint>(self->shared_->depth.load(std::memory_order_relaxed));
  jvmtiStackInfo* stack = nullptr;
  const jint asked = depth == 0 ? 0 : depth + kMostOfScheduler;
  if (self->jvmti_->GetThreadListStackTraces(1, &thread, asked, &stack) != JVMTI_ERROR_NONE ||
      stack == nullptr)
    return;
  if ((stack->state & JVMTI_THREAD_STATE_ALIVE) != 0) self->count(jni, thread, *stack, depth, stands_for);
  self->jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stack));
}

}  // namespace hprof::samples
