// Reads of memory that may be unmapped, by a single load each.
//
// On machines supported here, the address of each such load is in a table (section hprof_reads). The handlers
// of install_fault_guard() look the faulting instruction up there: the load then yields 0,
// guarded_read_faults() increases by one, and execution continues after it. So a guarded read costs as much
// as a plain one and needs no state of the thread; after a series of reads, compare the count. On other
// machines, and without an installed guard, it is a plain read: make it within guarded_call().
//
// '?': when the linker drops a duplicate of an inline function, that copy's entries of the table are dropped
// with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hprof::platform {

#if defined(__linux__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define HPROF_GUARDED_LOAD(instruction, to, memory)     \
  __asm__("1: " instruction                             \
          "\n2:\n"                                      \
          ".pushsection hprof_reads,\"a?\",@progbits\n" \
          ".balign 4\n"                                 \
          ".long 1b - ., 2b - .\n"                      \
          ".popsection"                                 \
          : "+r"(to)                                    \
          : HPROF_GUARDED_OPERAND(memory))
#ifdef __x86_64__
#define HPROF_GUARDED_OPERAND "m"
#define HPROF_GUARDED_BYTE "movzbl %1, %k0"
#define HPROF_GUARDED_HALF "movzwl %1, %k0"
#define HPROF_GUARDED_WORD "movl %1, %k0"
#define HPROF_GUARDED_LONG "movq %1, %0"
#else
#define HPROF_GUARDED_OPERAND "Q"
#define HPROF_GUARDED_BYTE "ldrb %w0, %1"
#define HPROF_GUARDED_HALF "ldrh %w0, %1"
#define HPROF_GUARDED_WORD "ldr %w0, %1"
#define HPROF_GUARDED_LONG "ldr %0, %1"
#endif
constexpr bool kReadsAreGuarded = true;
#else
constexpr bool kReadsAreGuarded = false;
#endif

// A T of 1, 2, 4 or 8 bytes at base + offset, at any alignment; null is an address as others are. [signal]
template <typename T>
__attribute__((no_sanitize("null"))) inline T guarded_read(const void* base, uint64_t offset = 0) {
  static_assert(std::is_trivially_copyable<T>::value, "bytes are all that is read");
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "one load");
  const char* from = static_cast<const char*>(base) + offset;
  T value;
#ifdef HPROF_GUARDED_LOAD
  uint64_t bits = 0;
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
  const auto& memory = *reinterpret_cast<const char(*)[sizeof(T)]>(from);
  if constexpr (sizeof(T) == 1) HPROF_GUARDED_LOAD(HPROF_GUARDED_BYTE, bits, memory);
  if constexpr (sizeof(T) == 2) HPROF_GUARDED_LOAD(HPROF_GUARDED_HALF, bits, memory);
  if constexpr (sizeof(T) == 4) HPROF_GUARDED_LOAD(HPROF_GUARDED_WORD, bits, memory);
  if constexpr (sizeof(T) == 8) HPROF_GUARDED_LOAD(HPROF_GUARDED_LONG, bits, memory);
  memcpy(&value, &bits, sizeof(value));
#else
  memcpy(&value, from, sizeof(value));
#endif
  return value;
}
#undef HPROF_GUARDED_LOAD
#undef HPROF_GUARDED_OPERAND
#undef HPROF_GUARDED_BYTE
#undef HPROF_GUARDED_HALF
#undef HPROF_GUARDED_WORD
#undef HPROF_GUARDED_LONG

// How many guarded reads of this library have faulted, of all threads. [signal]
uint32_t guarded_read_faults();

// The guarded reads of one library. Each member is a distance from its own address.
struct GuardedPlace {
  int32_t load, behind;
};
struct GuardedReads {
  const GuardedPlace *from, *to;
  std::atomic<uint32_t> faults;
  GuardedReads* next;  // list of those that the handlers know
};
// The reads of the library that this is linked into.
GuardedReads* own_guarded_reads();
// Registers another library's reads with the handlers; that library stays loaded. A second call does nothing.
// One thread at a time. [any]
void add_guarded_reads(GuardedReads* reads);

}  // namespace hprof::platform
