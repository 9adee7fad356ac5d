// The registers of a signal's machine context, per processor (ucontext_t of the kernel's signal ABI).
#include <ucontext.h>

#include "platform/sampling.h"

namespace hprof::platform {

namespace {

// Their positions for each processor. kLink is -1 if return addresses are on the stack.
#if defined(__x86_64__)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.gregs[name]
constexpr int kPc = REG_RIP, kSp = REG_RSP, kFp = REG_RBP, kLink = -1;
#elif defined(__i386__)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.gregs[name]
constexpr int kPc = REG_EIP, kSp = REG_ESP, kFp = REG_EBP, kLink = -1;
#elif defined(__aarch64__)
#define HPROF_REGISTER(context, name)           \
  *((name) == 32   ? &(context)->uc_mcontext.pc \
    : (name) == 31 ? &(context)->uc_mcontext.sp \
                   : &(context)->uc_mcontext.regs[name])
constexpr int kPc = 32, kSp = 31, kFp = 29, kLink = 30;
#elif defined(__riscv)
#define HPROF_REGISTER(context, name) (context)->uc_mcontext.__gregs[name]
constexpr int kPc = 0, kSp = 2, kFp = 8, kLink = 1;
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
  registers->pc = widen(HPROF_REGISTER(context, kPc));
  registers->sp = widen(HPROF_REGISTER(context, kSp));
  registers->fp = widen(HPROF_REGISTER(context, kFp));
  registers->link = kLink < 0 ? 0 : widen(HPROF_REGISTER(context, kLink < 0 ? kPc : kLink));
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

#else

bool read_registers(const void*, MachineRegisters*) { return false; }
void write_registers(void*, const MachineRegisters&) {}

#endif

}  // namespace hprof::platform
