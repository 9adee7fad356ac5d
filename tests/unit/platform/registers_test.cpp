#include <csignal>
#include <cstdint>
#include <doctest/doctest.h>

#include "platform/platform.h"

using namespace hprof::platform;

namespace {

MachineRegisters seen;
bool known;
uintptr_t stack_at_raise;

void look(int, siginfo_t*, void* context) {
  known = read_registers(context, &seen);
  MachineRegisters other = {0x1000, 0x2000, 0x3000, 0x4000}, back;
  write_registers(context, other);
  read_registers(context, &back);
  if (known)
    known = back.pc == 0x1000 && back.sp == 0x2000 && back.fp == 0x3000 &&
            (back.link == 0 || back.link == 0x4000);
  write_registers(context, seen);
}

}  // namespace

TEST_CASE("a handler reads the interrupted registers, and what it puts back is gone on with") {
  struct sigaction action = {}, old;
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGUSR2, &action, &old) == 0);
  int local = 0;
  stack_at_raise = reinterpret_cast<uintptr_t>(&local);
  raise(SIGUSR2);
  sigaction(SIGUSR2, &old, nullptr);
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__riscv)
  CHECK(known);
  CHECK(seen.pc != 0);
  CHECK(seen.sp <= stack_at_raise);
  CHECK(stack_at_raise - seen.sp < 65536);
#else
  CHECK_FALSE(known);
#endif
}

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__riscv)

namespace {

struct Frame {
  MachineRegisters on_top, below;
} frame;

void other_handler(int, siginfo_t*, void*) {}

void sample(int, siginfo_t*, void* context) {
  read_registers(context, &frame.on_top);
  read_registers(below_signal_frames(context), &frame.below);
}

// Has the signals delivered together; the one of the highest number is handled first.
template <size_t kSignals>
void deliver(const int (&numbers)[kSignals]) {
  sigset_t both, before;
  sigemptyset(&both);
  for (int number : numbers) sigaddset(&both, number);
  pthread_sigmask(SIG_BLOCK, &both, &before);
  struct sigaction old[kSignals];
  for (size_t i = 0; i < kSignals; i++) {
    struct sigaction action = {};
    action.sa_sigaction = i + 1 == kSignals ? sample : other_handler;
    action.sa_flags = SA_SIGINFO;
    REQUIRE(sigaction(numbers[i], &action, &old[i]) == 0);
    raise(numbers[i]);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (size_t i = 0; i < kSignals; i++) sigaction(numbers[i], &old[i], nullptr);
}

}  // namespace

TEST_CASE("frames of signals that are delivered together are stepped over") {
  const auto handler = reinterpret_cast<uintptr_t>(&other_handler);
  deliver({SIGPROF});
  const uint64_t interrupted = frame.on_top.pc;
  CHECK(interrupted != handler);
  CHECK(frame.below.pc == interrupted);
  deliver({SIGVTALRM, SIGPROF});
  CHECK(frame.on_top.pc == handler);
  CHECK(frame.below.pc == interrupted);
  CHECK(frame.below.sp > frame.on_top.sp);
  deliver({SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF});
  CHECK(frame.on_top.pc == handler);
  CHECK(frame.below.pc == interrupted);
}

#endif
