// The processor's own counter of time, where it has one that a program may read. [any]
#ifndef HPROF_CPP_CPU_COUNTER_HPP
#define HPROF_CPP_CPU_COUNTER_HPP

#include <stdint.h>

namespace hprof {

#if defined(__x86_64__) || defined(__i386__)
constexpr bool kHasCpuCounter = true;
inline uint64_t read_cpu_counter() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
constexpr bool kHasCpuCounter = true;
inline uint64_t read_cpu_counter() {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0"
                   : "=r"(ticks));
  return ticks;
}
#else
constexpr bool kHasCpuCounter = false;
inline uint64_t read_cpu_counter() { return 0; }
#endif

}  // namespace hprof

#endif
