// Why a class or a method was not rewritten. Enum, counters and report come from this table.
#pragma once

#include <cstdint>

namespace hprof {

#define HPROF_REWRITE_REASONS(X)                                     \
  X(kRewritten, "rewritten")                                         \
  X(kUnchanged, "nothing to do")                                     \
  X(kExcluded, "excluded by the filter")                             \
  X(kMalformedClass, "malformed class file")                         \
  X(kUnknownPoolTag, "unknown constant-pool tag")                    \
  X(kOldFormat, "class file older than 45.3")                        \
  X(kPoolFull, "constant pool is full")                              \
  X(kNoMemory, "scratch memory used up")                             \
  X(kMalformedCode, "malformed code")                                \
  X(kUnknownOpcode, "unknown instruction")                           \
  X(kUnknownAttribute, "unknown attribute of the code")              \
  X(kMalformedTable, "malformed table of the code")                  \
  X(kMalformedFrames, "malformed StackMapTable")                     \
  X(kUnknownFrame, "unknown kind of stack map frame")                \
  X(kMethodTooLarge, "code would pass 64 KiB")                       \
  X(kMethodTooHuge, "code would pass the size that the VM compiles") \
  X(kTooManyLocals, "too many local variables")                      \
  X(kJumpTooLong, "no place for a long jump")                        \
  X(kTooComplex, "too many exception handlers")                      \
  X(kConstructor, "constructor whose super() call is not plain")     \
  X(kEmptyFinalizer, "empty finalizer")                              \
  X(kCallsNothing, "neither calls nor loops")                        \
  X(kChangesThread, "changes the current thread")                    \
  X(kIntrinsic, "intrinsic of the VM")                               \
  X(kNative, "native: no bytecode")                                  \
  X(kAbstract, "abstract: name a class that implements it")

enum class Reason : uint8_t {
#define HPROF_ROW(name, text) name,
  HPROF_REWRITE_REASONS(HPROF_ROW)
#undef HPROF_ROW
};

#define HPROF_ROW(name, text) +1
constexpr uint32_t kReasonCount = 0 HPROF_REWRITE_REASONS(HPROF_ROW);
#undef HPROF_ROW

// True: with fewer probes the method may have room.
constexpr bool is_lack_of_room(Reason reason) {
  return reason == Reason::kMethodTooLarge || reason == Reason::kMethodTooHuge ||
         reason == Reason::kTooManyLocals || reason == Reason::kJumpTooLong;
}

// Static text, e.g. "malformed code". [any]
const char* reason_text(Reason reason);

}  // namespace hprof
