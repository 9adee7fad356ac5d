// The rare half of the walk: learns from the VM how many frames are inlined in compiled code, and lists
// frames.
#include "core/modules/hotspot/frame_walk.h"

namespace hprof {

// A compiled frame's own method is the last of its inlined frames. If that method occurs several times, the
// frame has at least the frames up to the first.
FrameWalk::Lesson FrameWalk::learn_methods(const void* env, const uint64_t* methods, uint32_t count,
                                           SeenCode* seen) {
  Frame frame;
  Step at;
  Lesson lesson = {};
  if (!begin(env, seen, &frame, &at)) return lesson;
  uint32_t covered = 0;
  for (uint32_t i = 0; i < kMostSteps && covered < count; i++) {
    if (frame.pc == layout_.call_stub_return) {
      if (behind_native(&frame, at.stack_end) != Behind::kFrames) break;
      continue;
    }
    if (!step(&frame, &at)) break;
    if (at.frames == 0) continue;
    if (at.entry != nullptr) at.method = guarded_at<uint64_t>(at.entry->blob + layout_.method_of_code);
    uint32_t last = covered;
    while (last < count && methods[last] != at.method) last++;
    if (last == count) {
      lesson.open = at.entry != nullptr && at.entry->frames < count - covered;
      break;
    }
    uint32_t again = last + 1;
    while (again < count && methods[again] != at.method) again++;
    const uint32_t frames = last + 1 - covered;
    if (at.entry != nullptr && frames > at.entry->frames && frames <= SeenCode::kMostFrames) {
      at.entry->frames = frames & SeenCode::kMostFrames;
      lesson.learned = true;
    }
    if (again < count) break;
    covered = last + 1;
  }
  return lesson;
}

// Drops a chain with more frames than are needed now.
static void forget_chain(hprof_walk_thread* thread) {
  if (thread->data == nullptr) return;
  StackChains::in(thread->chains)->forget(thread->data);
  thread->data = nullptr;
}

bool FrameWalk::learn(const void* env, const hprof_raw_frame* frames, uint32_t count,
                      hprof_walk_thread* thread) {
  auto* seen = static_cast<SeenCode*>(thread->seen);
  if (seen == nullptr || !ids_are_pointers_ || broken_.load(std::memory_order_relaxed)) return false;
  uint64_t methods[kMostLearned];
  if (count > kMostLearned) count = kMostLearned;
  Lesson lesson = {};
  const bool fine = guarded([&] {
    for (uint32_t i = 0; i < count; i++) methods[i] = guarded_read<uintptr_t>(frames[i].method);
    const bool learned = lesson.learned;
    lesson = learn_methods(env, methods, count, seen);
    lesson.learned |= learned;
  });
  if (!fine) distrust(kFaulted);
  if (lesson.learned) forget_chain(thread);
  return fine && lesson.open;
}

bool FrameWalk::list_interpreted(const Frame& frame, uint64_t method, Listed* listed) const {
  constexpr uint64_t kMostBytecode = 1u << 16;
  const uint64_t bytecode = word(frame.fp, layout_.bcp_slot);
  if (bytecode == 0) {
    listed->add(method, -1);  // native
    return true;
  }
  const uint64_t bci = bytecode - scopes_.bytecode_of(method);
  listed->add(method, static_cast<int64_t>(bci));
  return bci < kMostBytecode;
}

// A native wrapper has no scopes; it may also be the end of a virtual thread's frames.
bool FrameWalk::list_compiled(SeenCode::Entry* code, Listed* listed) const {
  if (code->scope == 0) {
    const bool is_native = guarded_at<uint64_t>(code->blob + layout_.blob_name) == load(&compiled_names_[1]);
    const uint32_t found = is_native ? 0 : scopes_.find(code->blob, code->pc);
    code->scope = found != 0 ? found : SeenCode::kNoScope;
  }
  if (code->scope == SeenCode::kNoScope) return false;
  CodeScopes::Scope scope;
  uint32_t frames = 0;
  for (uint32_t at = code->scope; at != 0; at = scope.sender) {
    if (frames == SeenCode::kMostFrames || !scopes_.read(code->blob, at, &scope)) return false;
    if (is_hidden(scope.method)) continue;
    listed->add(scope.method, scope.bci);
    frames++;
  }
  if (listed->learns && frames > code->frames) {
    code->frames = frames & SeenCode::kMostFrames;
    listed->learned = true;
  }
  return true;
}

bool FrameWalk::list(const void* env, SeenCode* seen, Listed* listed) {
  Frame frame;
  Step at;
  if (!begin(env, seen, &frame, &at)) return false;
  for (uint32_t i = 0; listed->count < listed->depth; i++) {
    if (i == kMostSteps) return false;
    if (frame.pc == layout_.call_stub_return) {
      const Behind behind = behind_native(&frame, at.stack_end);
      if (behind != Behind::kFrames) return behind == Behind::kNothing;
      continue;
    }
    const Frame callee = frame;
    if (!step(&frame, &at)) return false;
    if (at.frames == 0) continue;
    const bool is_listed =
        at.entry != nullptr ? list_compiled(at.entry, listed) : list_interpreted(callee, at.method, listed);
    if (!is_listed) return false;
  }
  return true;
}

uint32_t FrameWalk::frames(const void* env, uint32_t depth, bool learns, hprof_raw_frame* to,
                           hprof_walk_thread* thread) {
  auto* seen = static_cast<SeenCode*>(thread->seen);
  if (seen == nullptr || !scopes_.is_open() || broken_.load(std::memory_order_relaxed)) return 0;
  Listed listed = {to, 0, depth, learns, false};
  bool is_whole = false;
  const bool fine = guarded([&] {
    listed.count = 0;
    is_whole = list(env, seen, &listed);
  });
  if (!fine) distrust(kFaulted);
  if (listed.learned) forget_chain(thread);
  return fine && is_whole ? listed.count : 0;
}

}  // namespace hprof
