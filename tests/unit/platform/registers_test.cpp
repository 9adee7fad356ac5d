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
