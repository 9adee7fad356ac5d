#include "wall_counts.h"

#include <cstring>

#include <hprof/cpp/note.hpp>

namespace hprof::samples {

hprof_frame_id frame_of(const Services& s, JNIEnv* jni, const jvmtiFrameInfo& frame) {
  const hprof_raw_frame raw = {frame.method, frame.location};
  return s.ids->frame(s.host, jni, &raw, 0);
}

void WallCounts::open(Shared* shared) {
  shared_ = shared;
  const Services& s = shared->services;
  for (uint32_t i = 0; i < kJavaStates; i++) {
    states_[i] = s.ids->synthetic_frame(s.host, "STATE", java_state_name(static_cast<JavaState>(i)));
  }
}

// True: a thread of the JDK's own waits or is in a native method, and its whole stack is the JDK's.
static bool is_idle(const Services& s, JNIEnv* jni, JavaState java, const jvmtiStackInfo& stack) {
  static constexpr const char* kOfJdk[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
  const auto count = static_cast<uint32_t>(stack.frame_count);
  const bool is_native = count == 0 || stack.frame_buffer[0].location < 0;
  if (count >= kOwnDepth || java == JavaState::kBlocked || (java == JavaState::kRunnable && !is_native))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const hprof_text owner = class_name_of(s.ids, s.host, frame_of(s, jni, stack.frame_buffer[i]));
    bool is_known = false;
    for (const char* prefix : kOfJdk) is_known = is_known || begins_with(owner, prefix);
    if (!is_known) return false;
  }
  return true;
}

void WallCounts::add_stack(JNIEnv* jni, WallThread& thread, hprof_thread_serial serial,
                           const jvmtiStackInfo& stack, bool is_mounted) {
  if ((stack.state & JVMTI_THREAD_STATE_ALIVE) == 0) return;  // not started, or ended
  SampleBook& book = shared_->book;
  const JavaState java = java_state(stack.state);
  const hprof_frame_id state = frame_of(java);
  thread.state = state_of(java);
  auto frames = static_cast<uint32_t>(stack.frame_count);
  if (frames > thread.depth) frames = thread.depth;
  if (frames != 0) {
    thread.trace = book.trace_of(jni, serial, reinterpret_cast<const hprof_raw_frame*>(stack.frame_buffer),
                                 frames, state);
  } else {
    thread.trace = book.trace_of(serial, thread.depth == 0 ? kDepthZero : kNoJavaFrame, state);
  }
  thread.is_idle = thread.of_jdk && !is_mounted && is_idle(shared_->services, jni, java, stack);
  thread.context = book.events.of(serial, jni, stack.thread);
  thread.mounted = is_mounted ? book.virtual_threads.of(jni, stack.thread) : 0;
  facts.stacks++;
  add(thread, serial);
}

void WallCounts::add(WallThread& thread, hprof_thread_serial serial) {
  const Services& s = shared_->services;
  const uint64_t now = s.clock->monotonic(s.host);
  const auto interval = static_cast<int64_t>(shared_->interval_ns);
  const uint64_t since = now - thread.seen_ns;
  thread.seen_ns = now;
  facts.samples++;
  if (thread.is_idle) {
    facts.idle_ns += since;
    return;
  }
  thread.open_ns += static_cast<int64_t>(since);
  // Rounds to the nearest interval, so that at most half of one is carried over.
  const int64_t weight = thread.open_ns > 0 ? (thread.open_ns + interval / 2) / interval : 0;
  thread.open_ns -= weight * interval;
  if (weight != 0)
    shared_->book.add({serial, now, thread.state, thread.context, HPROF_FRAME_UNKNOWN, thread.mounted},
                      static_cast<hprof_trace_serial>(thread.trace), static_cast<uint64_t>(weight));
}

void WallCounts::keep_facts() {
  kept_ = facts;
  kept_.idle = facts.idle_ns / shared_->interval_ns;
  kept_.counted = shared_->book.total();
}

static hprof_status write_idle(const Shared& shared, const WallFacts& facts) {
  Note idle;
  idle.add("cpu=samples: not in the table: ").add(facts.idle).add(" samples, ");
  idle.percent(facts.idle, facts.idle + facts.counted);
  idle.add(" of all, of the JDK's own threads while they waited (threads=* shows them)");
  return hprof::write_note(shared.services, idle);
}

static hprof_status write_virtual(const Shared& shared, jvmtiEnv* jvmti, const WallFacts& facts) {
  Note waiting;
  waiting.add("cpu=samples: virtual threads without a carrier: ");
  if (facts.drawn != 0) {
    waiting.add(facts.drawn).add(" samples of random ones of about ").add(facts.in_sets / facts.turns);
    waiting.add("; their time is right to ").percent(facts.drawn_error, 10'000);
  } else if (!covers(shared.thread_names, {})) {
    waiting.add("not sampled with threads=");
  } else {
    waiting.add(facts.finds_virtual ? "none was found" : "this VM does not list them");
  }
  char* tracked = nullptr;
  if (jvmti->GetSystemProperty("jdk.trackAllThreads", &tracked) == JVMTI_ERROR_NONE) {
    if (*tracked != 0 && strcmp(tracked, "true") != 0)
      waiting.add("; the VM lists only those of executors (jdk.trackAllThreads=").add(tracked).add(")");
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(tracked));
  }
  return hprof::write_note(shared.services, waiting);
}

hprof_status WallCounts::write_note(jvmtiEnv* jvmti, uint64_t watched_ns, bool stops_vm) const {
  if (kept_.turns == 0) return HPROF_OK;
  Note line;
  line.add("cpu=samples: elapsed time of threads, whatever they did; samples at random moments in ");
  line.add(kept_.turns).add(" turns, one every ").decimal(watched_ns / kept_.turns / 1000, 3);
  line.add(" ms, each at ").decimal(kept_.samples * 10 / kept_.turns, 1).add(" of up to ");
  line.add(kept_.most_threads).add(" threads; ").add(kept_.stacks);
  line.add(" stacks were taken, the other samples found threads that had not run since; ");
  if (stops_vm)
    line.add("the VM was stopped ").add(kept_.stops).add(" times for them, at most 50 a second; ");
  hprof_status status = hprof::write_note(shared_->services, line.add("this took ").seconds(kept_.spent_ns));
  if (status == HPROF_OK && kept_.idle != 0) status = write_idle(*shared_, kept_);
  if (status != HPROF_OK || shared_->services.settings().java_version < 21) return status;
  return write_virtual(*shared_, jvmti, kept_);
}

}  // namespace hprof::samples
