// The registers of a signal's machine context, per processor (ucontext_t of the kernel's signal ABI).
#include <errno.h>
#include <signal.h>
#include <type_traits>
#include <ucontext.h>

#include "platform/guarded_read.h"
#include "platform/sampling.h"

namespace hprof::platform {

namespace {

// Indices of the registers, per processor. kLink: -1 if return addresses are on the stack; kBytecode,
// kSender, kOldSender, kKept: -1 if not known. kResult is that of a system call, which the instruction kCall
// makes. kNumber, kInfo and kContext hold a signal handler's arguments at its first instruction; info and
// context stand in the signal frame, kInfoAt and kContextAt bytes above the stack pointer.
#if defined(__x86_64__)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.gregs[name]
constexpr int kPc = REG_RIP, kSp = REG_RSP, kFp = REG_RBP, kLink = -1;
constexpr int kBytecode = REG_R13, kSender = REG_R13, kOldSender = REG_R13, kKept = REG_RAX;
constexpr int kResult = REG_RAX;
constexpr uint16_t kCall = 0x050f;
constexpr int kNumber = REG_RDI, kInfo = REG_RSI, kContext = REG_RDX;
constexpr uint64_t kInfoAt = 312, kContextAt = 8;
#elif defined(__i386__)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.gregs[name]
constexpr int kPc = REG_EIP, kSp = REG_ESP, kFp = REG_EBP, kLink = -1;
constexpr int kBytecode = -1, kSender = -1, kOldSender = -1, kKept = -1;
constexpr int kResult = REG_EAX;
constexpr uint16_t kCall = 0x80cd;
constexpr int kNumber = REG_EAX, kInfo = REG_EDX, kContext = REG_ECX;
constexpr uint64_t kInfoAt = 16, kContextAt = 144;
#elif defined(__aarch64__)
#define HPROF_REGISTER(context, name)           \
  *((name) == 32   ? &(context)->uc_mcontext.pc \
    : (name) == 31 ? &(context)->uc_mcontext.sp \
                   : &(context)->uc_mcontext.regs[name])
constexpr int kPc = 32, kSp = 31, kFp = 29, kLink = 30;
constexpr int kBytecode = 22, kSender = 19, kOldSender = 13, kKept = 23;
constexpr int kResult = 0;
constexpr uint32_t kCall = 0xd4000001;
constexpr int kNumber = 0, kInfo = 1, kContext = 2;
constexpr uint64_t kInfoAt = 0, kContextAt = 128;
#elif defined(__riscv)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.__gregs[name]
constexpr int kPc = 0, kSp = 2, kFp = 8, kLink = 1;
constexpr int kBytecode = -1, kSender = -1, kOldSender = -1, kKept = -1;
constexpr int kResult = 10;
constexpr uint32_t kCall = 0x00000073;
constexpr int kNumber = 10, kInfo = 11, kContext = 12;
constexpr uint64_t kInfoAt = 0, kContextAt = 128;
#endif

}  // namespace

#ifdef HPROF_REGISTER

template <class Register>
static uint64_t widen(Register value) {
  // 32-bit registers are signed in some headers: an address must not be sign-extended.
  return sizeof(Register) == 4 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
}

bool read_registers(const void* machine_context, MachineRegisters* registers) {
  const auto* context = static_cast<const ucontext_t*>(machine_context);
  const auto known = [context](int index) {
    return index < 0 ? 0 : widen(HPROF_REGISTER(context, index < 0 ? kPc : index));
  };
  registers->pc = widen(HPROF_REGISTER(context, kPc));
  registers->sp = widen(HPROF_REGISTER(context, kSp));
  registers->fp = widen(HPROF_REGISTER(context, kFp));
  registers->link = known(kLink);
  registers->bytecode = known(kBytecode);
  registers->sender = known(kSender);
  registers->old_sender = known(kOldSender);
  registers->kept = known(kKept);
  return true;
}

template <class Register>
static void put(Register& to, uint64_t value) {
  to = static_cast<Register>(value);
}

void write_registers(void* machine_context, const MachineRegisters& registers) {
  auto* context = static_cast<ucontext_t*>(machine_context);
  put(HPROF_REGISTER(context, kPc), registers.pc);
  put(HPROF_REGISTER(context, kSp), registers.sp);
  put(HPROF_REGISTER(context, kFp), registers.fp);
  if (kLink >= 0) put(HPROF_REGISTER(context, kLink < 0 ? kPc : kLink), registers.link);
}

void* below_signal_frames(void* machine_context) {
  constexpr int kMostFrames = 8;
  auto* context = static_cast<ucontext_t*>(machine_context);
  for (int i = 0; i < kMostFrames; i++) {
    const uint64_t sp = widen(HPROF_REGISTER(context, kSp)), info = widen(HPROF_REGISTER(context, kInfo));
    const uint64_t below = widen(HPROF_REGISTER(context, kContext));
    if (info != sp + kInfoAt || below != sp + kContextAt) break;
    const auto number = guarded_read<int>(reinterpret_cast<const siginfo_t*>(static_cast<uintptr_t>(info)));
    if (static_cast<uint64_t>(number) != widen(HPROF_REGISTER(context, kNumber))) break;
    context = reinterpret_cast<ucontext_t*>(static_cast<uintptr_t>(below));
  }
  return context;
}

InterruptedCall interrupted_call(const void* machine_context) {
  const auto* context = static_cast<const ucontext_t*>(machine_context);
  const auto pc = static_cast<uintptr_t>(widen(HPROF_REGISTER(context, kPc)));
  const auto is_call_at = [](uintptr_t at) {
    return guarded_read<std::remove_const_t<decltype(kCall)>>(reinterpret_cast<const void*>(at)) == kCall;
  };
  if (is_call_at(pc)) return InterruptedCall::kRestarts;
  const auto result = static_cast<long>(HPROF_REGISTER(context, kResult));
  return result == -EINTR && is_call_at(pc - sizeof kCall) ? InterruptedCall::kEnded : InterruptedCall::kNone;
}

bool knows_interrupted_calls() { return true; }

#else

bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}
void* below_signal_frames(void* machine_context) { return machine_context; }
InterruptedCall interrupted_call(const void*) { return InterruptedCall::kNone; }
bool knows_interrupted_calls() { return false; }

#endif

}  // namespace hprof::platform
