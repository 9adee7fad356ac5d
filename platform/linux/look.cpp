// Looks: signals to one thread, told from all others by their code and sender.
#include "platform/linux/look.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <type_traits>
#include <ucontext.h>
#include <unistd.h>

#include "platform/guarded_read.h"
#include "platform/linux/proc_text.h"
#include "platform/posix/path_text.h"
#include "platform/posix/sample_signal.h"
#include "platform/sampling.h"

namespace hprof::platform {
namespace {

// A process may send itself signals of any code; the kernel and the C library use those down to -60.
constexpr int kLookCode = -0x4850;

// Tells this copy of the agent from another in the same process.
const char token = 0;
int our_number() { return static_cast<int>(reinterpret_cast<uintptr_t>(&token)); }

}  // namespace

int send_look(NativeThread thread, void* value) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = sample_signal();
  info.si_errno = our_number();
  info.si_code = kLookCode;
  info.si_pid = getpid();
  info.si_value.sival_ptr = value;
  const long sent =
      syscall(SYS_rt_tgsigqueueinfo, info.si_pid, static_cast<int>(thread), info.si_signo, &info);
  return sent == 0 ? 0 : errno;
}

bool is_look(const siginfo_t* info, void** value) {
  if (info->si_code != kLookCode || info->si_errno != our_number() || info->si_pid != getpid()) return false;
  *value = info->si_value.sival_ptr;
  return true;
}

// Field 3 of proc(5)'s stat; the name before it may have any character.
RunState thread_state(NativeThread thread) {
  char path[64], text[128];
  PathText(path, sizeof path).add("/proc/self/task/").add(static_cast<uint32_t>(thread)).add("/stat");
  if (read_proc_text(path, text, sizeof text) == 0) return RunState::kUnknown;
  const char* end_of_name = strrchr(text, ')');
  if (end_of_name == nullptr || end_of_name[1] != ' ') return RunState::kUnknown;
  return end_of_name[2] == 'R' ? RunState::kRunnable : RunState::kBlocked;
}

namespace {

// Where the context goes on, and the result of a call that ended just there.
struct Behind {
  uintptr_t pc;
  int64_t result;
};

#if defined(__x86_64__)
constexpr uint16_t kCall = 0x050f;  // syscall
// The instruction itself leaves the address behind it in rcx: most contexts that are elsewhere are told by
// that.
bool may_have_left_a_call(const ucontext_t& context) {
  return context.uc_mcontext.gregs[REG_RCX] == context.uc_mcontext.gregs[REG_RIP];
}
Behind behind_call(const ucontext_t& context) {
  return {static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]), context.uc_mcontext.gregs[REG_RAX]};
}
#elif defined(__aarch64__)
constexpr uint32_t kCall = 0xd4000001;  // svc #0
bool may_have_left_a_call(const ucontext_t&) { return true; }
Behind behind_call(const ucontext_t& context) {
  return {static_cast<uintptr_t>(context.uc_mcontext.pc), static_cast<int64_t>(context.uc_mcontext.regs[0])};
}
#else
constexpr uint8_t kCall = 0;
bool may_have_left_a_call(const ucontext_t&) { return false; }
Behind behind_call(const ucontext_t&) { return {}; }
#endif

}  // namespace

bool left_a_call(const void* machine_context) {
  const auto& context = *static_cast<const ucontext_t*>(machine_context);
  if (!may_have_left_a_call(context)) return false;
  return guarded_read<std::remove_cv_t<decltype(kCall)>>(
             reinterpret_cast<const void*>(behind_call(context).pc - sizeof kCall)) == kCall;
}

// A call that is started anew looks as it did before; one that is not has -EINTR for its result.
bool interrupted_a_call(const void* machine_context) {
  return behind_call(*static_cast<const ucontext_t*>(machine_context)).result == -EINTR &&
         left_a_call(machine_context);
}

}  // namespace hprof::platform
