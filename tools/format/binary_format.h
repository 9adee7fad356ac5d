// Tags, types and names of the binary format, from the HPROF manual.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hprof/cpp/dump_types.hpp>

namespace hprof::tool {

enum RecordTag : uint8_t {
  kString = 0x01,
  kLoadClass = 0x02,
  kUnloadClass = 0x03,
  kFrame = 0x04,
  kTrace = 0x05,
  kAllocSites = 0x06,
  kHeapSummary = 0x07,
  kStartThread = 0x0a,
  kEndThread = 0x0b,
  kHeapDump = 0x0c,
  kCpuSamples = 0x0d,
  kControlSettings = 0x0e,
  kHeapDumpSegment = 0x1c,
  kHeapDumpEnd = 0x2c,
};

enum HeapTag : uint8_t {
  kRootJniGlobal = 0x01,
  kRootJniLocal = 0x02,
  kRootJavaFrame = 0x03,
  kRootNativeStack = 0x04,
  kRootStickyClass = 0x05,
  kRootThreadBlock = 0x06,
  kRootMonitorUsed = 0x07,
  kRootThreadObject = 0x08,
  kClassDump = 0x20,
  kInstanceDump = 0x21,
  kObjectArrayDump = 0x22,
  kPrimitiveArrayDump = 0x23,
  kRootUnknown = 0xff,
};

struct NamedTag {
  uint8_t tag;
  const char* name;
};
template <size_t kCount>
const char* name_in(const NamedTag (&rows)[kCount], uint8_t tag, const char* otherwise) {
  for (const NamedTag& row : rows)
    if (row.tag == tag) return row.name;
  return otherwise;
}

inline const char* type_name(uint8_t type) {
  static constexpr NamedTag kNames[] = {
      {HPROF_TYPE_OBJECT, "object"}, {HPROF_TYPE_BOOLEAN, "boolean"}, {HPROF_TYPE_CHAR, "char"},
      {HPROF_TYPE_FLOAT, "float"},   {HPROF_TYPE_DOUBLE, "double"},   {HPROF_TYPE_BYTE, "byte"},
      {HPROF_TYPE_SHORT, "short"},   {HPROF_TYPE_INT, "int"},         {HPROF_TYPE_LONG, "long"}};
  return name_in(kNames, type, "unknown");
}

// nullptr: no such tag.
inline const char* record_name(uint8_t tag) {
  static constexpr NamedTag kNames[] = {{kString, "STRING"},
                                        {kLoadClass, "LOAD CLASS"},
                                        {kUnloadClass, "UNLOAD CLASS"},
                                        {kFrame, "STACK FRAME"},
                                        {kTrace, "STACK TRACE"},
                                        {kAllocSites, "ALLOC SITES"},
                                        {kHeapSummary, "HEAP SUMMARY"},
                                        {kStartThread, "START THREAD"},
                                        {kEndThread, "END THREAD"},
                                        {kHeapDump, "HEAP DUMP"},
                                        {kCpuSamples, "CPU SAMPLES"},
                                        {kControlSettings, "CONTROL SETTINGS"},
                                        {kHeapDumpSegment, "HEAP DUMP SEGMENT"},
                                        {kHeapDumpEnd, "HEAP DUMP END"}};
  return name_in(kNames, tag, nullptr);
}

// nullptr: no such tag.
inline const char* root_name(uint8_t tag) {
  static constexpr NamedTag kNames[] = {
      {kRootJniGlobal, "JNI GLOBAL"},     {kRootJniLocal, "JNI LOCAL"},
      {kRootJavaFrame, "JAVA FRAME"},     {kRootNativeStack, "NATIVE STACK"},
      {kRootStickyClass, "STICKY CLASS"}, {kRootThreadBlock, "THREAD BLOCK"},
      {kRootMonitorUsed, "MONITOR USED"}, {kRootThreadObject, "THREAD OBJECT"},
      {kRootUnknown, "UNKNOWN"}};
  return name_in(kNames, tag, nullptr);
}

}  // namespace hprof::tool
