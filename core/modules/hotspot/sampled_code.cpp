#include "core/modules/hotspot/sampled_code.h"

#include "core/modules/hotspot/machine_code.h"

namespace hprof {

static constexpr uint32_t kLastC1Level = 3;

bool SampledCode::is_of(uint64_t blob, const char* prefix) const {
  const auto* name = guarded_at<const char*>(blob + layout_.blob_name);
  for (uint64_t i = 0; prefix[i] != '\0'; i++) {
    if (guarded_read<char>(name, i) != prefix[i]) return false;
  }
  return true;
}

uint32_t SampledCode::compiled_by(uint64_t blob) const {
  return guarded_at<uint8_t>(blob + level_) <= kLastC1Level ? HPROF_FRAME_C1 : HPROF_FRAME_C2;
}

// True: the call before pc leads to a stub, or out of Java code.
bool SampledCode::calls_no_java(uint64_t pc) const {
  const uint64_t target = machine::call_target(pc);
  if (target == 0) return false;
  const Code code = code_at(target);
  return code.blob == 0 || code.kind == Kind::kUnknown;
}

// The frames of a virtual thread beyond this return address are in the heap; also the stubs that bring them
// back.
bool SampledCode::is_barrier(uint64_t pc, uint64_t blob) const {
  return has_barrier_ && (pc == return_barrier_ || is_of(blob, "StubRoutines (continuation"));
}

// True: pc may be a return address. A record does not suffice (with DebugNonSafepoints other instructions
// have them, too), nor does a call before pc (stale words of the stack may lead behind any).
bool SampledCode::is_return(uint64_t pc, Call call) const {
  if (pc == layout_.call_stub_return) return true;
  const Code code = code_at(pc);
  if (code.blob == 0) return false;
  switch (code.kind) {
    case Kind::kCompiled:
      if (pc >= code.blob + guarded_at<uint32_t>(code.blob + layout_.stub_offset))
        return true;  // being deoptimized
      return machine::is_behind_call(pc) &&
             (scopes_.find(code.blob, pc) != 0 || (call == Call::kLeaf && calls_no_java(pc)));
    case Kind::kInterpreter:
      return true;
    case Kind::kNative:
      return machine::is_behind_call(pc);
    case Kind::kUnknown:
      return is_stub(code) && is_barrier(pc, code.blob);
  }
  return false;
}

// True: the call before pc may have led into the code of `blob`, perhaps by a stub, or its target is unknown.
bool SampledCode::may_call(uint64_t pc, uint64_t blob) const {
  if (code_at(pc).kind != Kind::kCompiled || !machine::is_direct_call(pc)) return true;
  const Code to = code_at(machine::call_target(pc));
  if (to.blob == 0) return false;
  if (to.blob == blob || to.kind == Kind::kUnknown) return true;
  return to.kind != Kind::kInterpreter && method_of(to.blob) == method_of(blob);
}

// False: code of that blob is no stub and calls none: it jumps to virtual methods.
bool SampledCode::may_stub(uint64_t blob) const { return !is_of(blob, "vtable chunks"); }

// False: the call before pc leads to another method, and not to a stub or into the interpreter.
bool SampledCode::may_call_out(uint64_t pc) const {
  const uint64_t target = code_at(pc).kind == Kind::kCompiled ? machine::call_target(pc) : 0;
  const Code to = target != 0 ? code_at(target) : Code{0, Kind::kUnknown, 0};
  if (to.blob == 0) return true;
  return is_method(to) ? to.blob == code_at(pc).blob : may_stub(to.blob);
}

// True: the call before pc leads to the stub that runs at `here`, or to another blob that may have led there.
bool SampledCode::calls_near(uint64_t pc, uint64_t here) const {
  constexpr uint64_t kReach = 8192;  // stubs that copy arrays share code, before and behind
  const uint64_t target = code_at(pc).kind == Kind::kCompiled ? machine::call_target(pc) : 0;
  if (target == 0) return false;
  const Code to = code_at(target);
  if (to.blob != code_at(here).blob) return to.blob != 0 && to.kind == Kind::kUnknown && may_stub(to.blob);
  return target - here + kReach < 2 * kReach;
}

}  // namespace hprof
