// Why a sample has no stack: the result codes of AsyncGetCallTrace (ticks_* in HotSpot's forte.cpp) and our
// own.
#pragma once

#include <cstdint>

namespace hprof::samples {

// Up to kSafepoint: the negated code of AsyncGetCallTrace.
enum Reason : uint32_t {
  kNoJavaFrame = 0,
  kNoClassLoadEvents = 1,
  kGcActive = 2,
  kUnknownNative = 3,
  kUnwalkableNative = 4,
  kUnknownJava = 5,
  kUnwalkableJava = 6,
  kUnknownState = 7,
  kThreadExit = 8,
  kDeoptimization = 9,
  kSafepoint = 10,
  kWalkFault,       // the walk touched memory that is not there
  kNotJavaThread,   // no JNIEnv: not attached, or no longer
  kDepthZero,       // depth=0: no frames were asked for
  kNotSeenRunning,  // CPU time of a thread that was never met while running, or since the last look at its
                    // end
  kNotLookedAt,     // wall-clock engine: the time between the last look at a thread and its end
  kUnknownCode,     // a code that this version does not know
  kReasonCount
};

// For the frame_count that AsyncGetCallTrace left behind (<= 0).
inline Reason reason_of(int32_t frame_count) {
  int64_t code = -static_cast<int64_t>(frame_count);
  return code < 0 || code >= kReasonCount ? kUnknownCode : static_cast<Reason>(code);
}

// The method of the synthetic frame (class JVM); no blanks: readers split rows at them.
const char* reason_method(Reason reason);

}  // namespace hprof::samples
