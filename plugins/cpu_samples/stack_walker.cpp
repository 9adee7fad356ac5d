#include "stack_walker.h"

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/vm_flags.hpp>

#include "walk_result.h"

namespace hprof::samples {

void StackWalker::open(const Services& services) {
  services_ = services;
  if (kHasWalk) walk_service_ = find_service<hprof_walk_service>(services.host, HPROF_SERVICE_WALK);
}

const char* StackWalker::start() {
  const Services& s = services_;
  if (s.sampling == nullptr) return "this platform has no CPU-time signals";
  void* walk = s.code != nullptr ? s.code->async_get_call_trace(s.host) : nullptr;
  function_ = reinterpret_cast<AsyncGetCallTrace>(walk);
  if (walk == nullptr) return "this VM has no AsyncGetCallTrace, or it is switched off";
  const char* why = nullptr;
  const bool is_there =
      walk_service_ != nullptr && HPROF_HAS(walk_service_, hprof_walk_service, tend_interrupted);
  if (kHasWalk && opened_ == nullptr && is_there) {
    opened_ = walk_service_->open_interrupted(s.host, s.jvm->jni(s.host), &why);
    own_.store(opened_, std::memory_order_relaxed);
  }
  // JDK 8 uses MaxJavaStackTraceDepth as the number of frames that AsyncGetCallTrace may skip at first.
  intptr_t depth = 1;
  if (s.settings().java_version <= 8 && s.vm_flags != nullptr)
    s.vm_flags->read(s.host, "MaxJavaStackTraceDepth", &depth, sizeof depth);
  return depth > 0 ? nullptr
                   : "AsyncGetCallTrace finds no frames with -XX:MaxJavaStackTraceDepth of 0 or less";
}

void StackWalker::close() {
  if (kHasWalk && opened_ != nullptr) walk_service_->close_interrupted(services_.host, opened_);
  opened_ = nullptr;
}

namespace {
struct Walk {
  void (*walk)(AsyncTrace* trace, int32_t depth, void* ucontext);
  AsyncTrace trace;
  int32_t depth;
  void* ucontext;
  // For walk_caller, which starts at the caller of the interrupted code.
  const hprof_sampling_service* sampling;
  const hprof_host* host;
  hprof_registers interrupted;
  uint32_t guess;
};
}  // namespace

static void walk_stack(void* argument) {
  auto* w = static_cast<Walk*>(argument);
  w->walk(&w->trace, w->depth, w->ucontext);
}

// In the prologue and epilogue of a method its frame is not set up yet, or is gone. The return address is
// then in the link register, on top of the stack, or behind the saved frame pointer there. It is the address
// after the call, which may be of another line or inlined method, so each guess is tried less one first.
// Unchanged it is right where the VM compares addresses: call stubs, frames to be deoptimized.
static constexpr uint32_t kGuesses = 4;
static void walk_caller(void* argument) {
  auto* w = static_cast<Walk*>(argument);
  hprof_registers r = w->interrupted;
  const auto* top = reinterpret_cast<const uintptr_t*>(static_cast<uintptr_t>(r.sp));
  const bool has_saved_fp = w->guess / 2 != 0;
  if (r.link != 0) {
    if (has_saved_fp) return;
    r.pc = r.link;
  } else if (!has_saved_fp) {
    r.pc = top[0];
    r.sp += sizeof top[0];
  } else {
    r.fp = top[0];
    r.pc = top[1];
    r.sp += 2 * sizeof top[0];
  }
  if (w->guess % 2 == 0) r.pc--;
  w->sampling->write_registers(w->host, w->ucontext, &r);
  walk_stack(argument);
}

void StackWalker::walk_by_vm(Sample* sample, void* jni, uint32_t depth, void* ucontext) {
  const Services& s = services_;
  Walk w = {};
  w.walk = function_;
  w.trace = {jni, 0, sample->frames};
  w.depth = static_cast<int32_t>(depth);
  w.ucontext = ucontext;
  sample->found = Found::kByVm;
  bool returned = s.sampling->guarded(s.host, &walk_stack, &w) != 0;
  sample->frame_count = returned ? w.trace.frame_count : -static_cast<int32_t>(kWalkFault);
  bool in_java = sample->frame_count == -static_cast<int32_t>(kUnknownJava) ||
                 sample->frame_count == -static_cast<int32_t>(kUnwalkableJava);
  if (in_java) walk_from_caller(sample, jni, depth, ucontext);
  if (sample->frame_count <= 0 && sample->top == nullptr) sample->found = Found::kNone;
}

void StackWalker::walk_from_caller(Sample* sample, void* jni, uint32_t depth, void* ucontext) {
  const Services& s = services_;
  Walk w = {};
  if (!HPROF_HAS(s.sampling, hprof_sampling_service, write_registers)) return;
  w.interrupted.size = sizeof w.interrupted;
  if (s.sampling->read_registers(s.host, ucontext, &w.interrupted) == 0) return;
  sample->top = s.code->method_at(s.host, w.interrupted.pc);
  w.walk = function_;
  w.depth = static_cast<int32_t>(depth);
  w.ucontext = ucontext;
  w.sampling = s.sampling;
  w.host = s.host;
  for (w.guess = 0; w.guess < kGuesses; w.guess++) {
    w.trace = {jni, 0, sample->frames};
    bool returned = s.sampling->guarded(s.host, &walk_caller, &w) != 0;
    s.sampling->write_registers(s.host, ucontext, &w.interrupted);
    if (!returned || w.trace.frame_count <= 0) continue;
    sample->frame_count = w.trace.frame_count;
    return;
  }
}

// A hash of the frames. Without the first one unless the interrupted code has a complete compiled frame: the
// VM reads a bytecode index that is not up to date, or takes a return address for the next instruction.
static uint64_t digest_of(const Sample& sample, uint32_t how) {
  constexpr int32_t kNative = -3;
  uint64_t digest = 1;
  for (int32_t i = how == HPROF_WALKED_BODY ? 0 : 1; i < sample.frame_count; i++) {
    const hprof_async_frame& frame = sample.frames[i];
    const int32_t line = frame.index < 0 && frame.index != kNative ? 0 : frame.index;
    digest = mix(mix(digest, reinterpret_cast<uintptr_t>(frame.method)), static_cast<uint32_t>(line));
  }
  return digest;
}

// True: the digest is that of the innermost `count` frames.
static bool is_upper_part(Sample* sample, int32_t count, uint32_t how, uint64_t digest) {
  const int32_t whole = sample->frame_count;
  if (count >= whole) return false;
  sample->frame_count = count;
  const bool result = digest_of(*sample, how) == digest;
  sample->frame_count = whole;
  return result;
}

bool StackWalker::is_refuted() const {
  const uint32_t alike = alike_.load(std::memory_order_relaxed);
  return different_.load(std::memory_order_relaxed) > kFewDifferent + alike / kAlikePerDifferent;
}

bool StackWalker::has_proved() const {
  return alike_.load(std::memory_order_relaxed) >= kProof && !is_refuted();
}

bool StackWalker::walk_by_frames(const hprof_sample_walk* own, Sample* sample, void* jni, uint32_t depth,
                                 void* ucontext, hprof_interrupted_stack* stack) const {
  sample->frame_count =
      static_cast<int32_t>(walk_service_->interrupted(own, jni, ucontext, depth, sample->frames, stack));
  sample->top = nullptr;
  sample->outside = stack->outside;
  sample->in_call = stack->in_call;
  sample->kind = stack->kind;
  sample->found = stack->is_cut != 0 ? Found::kCut : stack->has_hole != 0 ? Found::kHole : Found::kWhole;
  return sample->frame_count > 0;
}

void StackWalker::walk(Sample* sample, void* jni, uint32_t depth, void* ucontext) {
  const hprof_sample_walk* own = this->own();
  hprof_interrupted_stack stack = {};
  const bool is_found = own != nullptr && walk_by_frames(own, sample, jni, depth, ucontext, &stack);
  const bool is_used = is_found && has_proved();
  const bool is_comparable = is_found && stack.how != HPROF_WALKED_GUESS && stack.has_heap == 0;
  if (is_used && (!is_comparable || turn_.fetch_add(1, std::memory_order_relaxed) % kCompareEvery != 0))
    return;
  const int32_t own_count = sample->frame_count, cut_count = static_cast<int32_t>(stack.by_vm);
  const uint64_t digest = is_comparable ? digest_of(*sample, stack.how) : 0;
  sample->frame_count = cut_count;
  const uint64_t cut_digest = is_comparable ? digest_of(*sample, stack.how) : 0;
  walk_by_vm(sample, jni, depth, ucontext);
  bool is_alike = false;
  const bool is_longer = is_found && own_count > sample->frame_count;
  if (is_comparable && sample->frame_count > 0 && sample->top == nullptr) {
    const uint64_t found = digest_of(*sample, stack.how);
    is_alike = (sample->frame_count == own_count && found == digest) ||
               (sample->frame_count == cut_count && found == cut_digest);
    // AsyncGetCallTrace ends early below some calls that the VM makes, such as of a class initializer: an
    // upper part of our stack says nothing against the rest.
    bool is_part = false;
    if (!is_alike && is_longer) {
      const int32_t count = sample->frame_count;
      is_part = walk_by_frames(own, sample, jni, depth, ucontext, &stack) &&
                is_upper_part(sample, count, stack.how, found);
      if (is_part && is_used) return;
      walk_by_vm(sample, jni, depth, ucontext);
    }
    // In a complete frame both read the same words: a difference weighs more.
    const uint32_t weight = is_alike || stack.how != HPROF_WALKED_BODY ? 1 : kFewDifferent / 2;
    if (!is_part) (is_alike ? alike_ : different_).fetch_add(weight, std::memory_order_relaxed);
    if (is_alike && !is_longer) sample->found = stack.is_cut != 0 ? Found::kCut : Found::kWhole;
  }
  if (is_used && (is_longer || !is_alike) && !walk_by_frames(own, sample, jni, depth, ucontext, &stack))
    walk_by_vm(sample, jni, depth, ucontext);
}

void StackWalker::judge() {
  hprof_sample_walk* own = this->own();
  if (own == nullptr) return;
  walk_service_->tend_interrupted(own, services_.jvm->jni(services_.host));
  if (!is_refuted()) return;
  own_.store(nullptr, std::memory_order_relaxed);
  walk_service_->distrust_interrupted(own, "its stacks are not AsyncGetCallTrace's");
}

}  // namespace hprof::samples
