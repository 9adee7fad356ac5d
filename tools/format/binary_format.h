// Tags, types and names of the binary format, from the HPROF manual.
#pragma once

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

inline const char* type_name(uint8_t type) {
  switch (type) {
    case HPROF_TYPE_OBJECT:
      return "object";
    case HPROF_TYPE_BOOLEAN:
      return "boolean";
    case HPROF_TYPE_CHAR:
      return "char";
    case HPROF_TYPE_FLOAT:
      return "float";
    case HPROF_TYPE_DOUBLE:
      return "double";
    case HPROF_TYPE_BYTE:
      return "byte";
    case HPROF_TYPE_SHORT:
      return "short";
    case HPROF_TYPE_INT:
      return "int";
    case HPROF_TYPE_LONG:
      return "long";
    default:
      return "unknown";
  }
}

inline const char* record_name(uint8_t tag) {
  switch (tag) {
    case kString:
      return "STRING";
    case kLoadClass:
      return "LOAD CLASS";
    case kUnloadClass:
      return "UNLOAD CLASS";
    case kFrame:
      return "STACK FRAME";
    case kTrace:
      return "STACK TRACE";
    case kAllocSites:
      return "ALLOC SITES";
    case kHeapSummary:
      return "HEAP SUMMARY";
    case kStartThread:
      return "START THREAD";
    case kEndThread:
      return "END THREAD";
    case kHeapDump:
      return "HEAP DUMP";
    case kCpuSamples:
      return "CPU SAMPLES";
    case kControlSettings:
      return "CONTROL SETTINGS";
    case kHeapDumpSegment:
      return "HEAP DUMP SEGMENT";
    case kHeapDumpEnd:
      return "HEAP DUMP END";
    default:
      return nullptr;
  }
}

inline const char* root_name(uint8_t tag) {
  switch (tag) {
    case kRootJniGlobal:
      return "JNI GLOBAL";
    case kRootJniLocal:
      return "JNI LOCAL";
    case kRootJavaFrame:
      return "JAVA FRAME";
    case kRootNativeStack:
      return "NATIVE STACK";
    case kRootStickyClass:
      return "STICKY CLASS";
    case kRootThreadBlock:
      return "THREAD BLOCK";
    case kRootMonitorUsed:
      return "MONITOR USED";
    case kRootThreadObject:
      return "THREAD OBJECT";
    case kRootUnknown:
      return "UNKNOWN";
    default:
      return nullptr;
  }
}

}  // namespace hprof::tool
