// Why a sample has no stack: the result codes of AsyncGetCallTrace (ticks_* in HotSpot's forte.cpp) and our
// own.
#pragma once

#include <cstdint>

namespace hprof::samples {

// Reasons up to kSafepoint are negated codes of AsyncGetCallTrace.
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
  kWalkFault,       // the walk read unmapped memory
  kNotJavaThread,   // no JNIEnv: the thread is not attached, or no longer
  kDepthZero,       // depth=0: no frames were asked for
  kNotSeenRunning,  // CPU time of a thread that no sample found running, or after its last sample
  kNotSampled,      // wall-clock engine: the time from a thread's last sample to its end
  kUnknownCode,     // a code that this version does not know
  kReasonCount
};

// The reason for a frame_count <= 0 of AsyncGetCallTrace.
inline Reason reason_of(int32_t frame_count) {
  int64_t code = -static_cast<int64_t>(frame_count);
  return code < 0 || code >= kReasonCount ? kUnknownCode : static_cast<Reason>(code);
}

// False: there is no stack of Java frames, or none was asked for.
inline bool is_lost(Reason why) {
  return why != kNoJavaFrame && why != kNotSeenRunning && why != kDepthZero && why != kNotJavaThread;
}

// The method of the synthetic frame (class JVM). Without blanks, since readers split rows at blanks.
const char* reason_method(Reason reason);

}  // namespace hprof::samples
