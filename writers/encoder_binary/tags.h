// The tags of the binary format, and the numbers of traces and threads in it.
#pragma once

#include <cstdint>

namespace hprof::binary {

// Records.
enum Tag : uint32_t {
  kUtf8 = 0x01,
  kLoadClass = 0x02,
  kUnloadClass = 0x03,
  kFrame = 0x04,
  kTrace = 0x05,
  kAllocSites = 0x06,
  kHeapSummary = 0x07,
  kStartThread = 0x0a,
  kEndThread = 0x0b,
  kCpuSamples = 0x0d,
  kControlSettings = 0x0e,
  kHeapDumpSegment = 0x1c,
  kHeapDumpEnd = 0x2c,
};

// Sub-records of heap dumps; the roots are HPROF_ROOT_*.
enum DumpTag : uint32_t {
  kClassDump = 0x20,
  kInstanceDump = 0x21,
  kObjectArrayDump = 0x22,
  kPrimitiveArrayDump = 0x23,
};

// Number of the empty trace among STACK TRACE records; a trace has this plus its serial.
constexpr uint32_t kFirstTraceNumber = 300000;
// A thread has this plus its serial.
constexpr uint32_t kFirstThreadNumber = 200000;

}  // namespace hprof::binary
