// The types of a recording and the metadata event that describes them to readers.
#pragma once

#include "jfr_out.h"

namespace hprof::jfr {

// Numbers of types. Readers take 0 and 1 for metadata and constant pools.
enum Type : uint32_t {
  kBoolean = 20,
  kByte,
  kInt,
  kLong,
  kFloat,
  kString,
  kClass,
  kThread,
  kThreadGroup,
  kClassLoader,
  kPackage,
  kModule,
  kSymbol,
  kFrameType,
  kThreadState,
  kGcWhen,
  kMethod,
  kStackFrame,
  kStackTrace,
  kLabel,
  kCategory,
  kTimestamp,
  kTimespan,
  kDataAmount,
  kMemoryAddress,
  kPercentage,
  kContextual,
  kContentType,
  kVirtualSpace,
  // Events
  kExecutionSample,
  kWallClockSample,
  kAllocationSample,
  kMonitorEnter,
  kMonitorWait,
  kThreadPark,
  kFileRead,
  kFileWrite,
  kSocketRead,
  kSocketWrite,
  kSlowCall,
  kRequest,
  kThreadStart,
  kThreadEnd,
  kThreadStatistics,
  kGarbageCollection,
  kGcPause,
  kHeapSummary,
  kCpuLoad,
  kCpuInformation,
  kActiveSetting,
  kJvmInformation,
  kShutdown,
  kNote,
  kTypesEnd,
};
constexpr uint32_t kFirstType = kBoolean, kTypeCount = kTypesEnd - kFirstType, kFirstEvent = kExecutionSample;

class Metadata {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();
  // Describes samples with a field more, eventThread, by which `jfr print` finds the requests of events.
  // Before the first chunk. False: no memory.
  bool add_sample_threads();

  // The event, whose bytes are the same in each chunk but for its time.
  uint64_t size(uint64_t ticks) const;
  void write(JfrOut& out, uint64_t ticks) const;

 private:
  class Tree;
  bool build();

  bool has_sample_threads_ = false;
  Bytes strings_, tree_;
  uint32_t string_count_ = 0;
};

}  // namespace hprof::jfr
