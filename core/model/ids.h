// The ids of the model: distinct types of one width, with the values of the ABI's plain ones.
#pragma once

#include <cstdint>

#include <hprof/service/ids.h>

namespace hprof {

// 0 (kNone) is "none" for all of them.
enum class StringId : uint32_t { kNone = 0 };
enum class ClassSerial : uint32_t { kNone = 0 };
enum class MethodId : uint32_t { kNone = 0 };
enum class FrameId : uint32_t { kNone = 0 };
enum class TraceSerial : uint32_t { kNone = 0 };
enum class ThreadSerial : uint32_t { kNone = 0 };

// The caller's number for the class that a jmethodID belongs to (MethodMap).
enum class ClassToken : uint32_t {};

// The ABI's plain number: raw(StringId{7}) == 7.
template <class Id>
constexpr uint32_t raw(Id id) {
  static_assert(sizeof(Id) == sizeof(uint32_t), "one width");
  return static_cast<uint32_t>(id);
}

// The model's records; the ABI's structs of similar names grow and start with a size.
struct ClassInfo {
  uint32_t serial;
  uint32_t name, signature, source;  // string ids; source 0: unknown
  uint64_t object;
};
struct MethodInfo {
  uint32_t owner;
  uint32_t name, signature;
};
struct FrameInfo {
  uint32_t method;
  int32_t line;
};
struct TraceInfo {
  uint32_t serial, thread;
  uint32_t frame_count;
  uint32_t flags;  // HPROF_TRACE_*; may be set later: read it by load_relaxed
  const uint32_t* frames;
};
struct ThreadInfo {
  uint32_t serial;
  uint32_t flags;
  uint64_t object, java_id, os_id;
  uint32_t name, group, parent_group;
};

static_assert(sizeof(StringId) == sizeof(hprof_string_id) &&
                  sizeof(ClassSerial) == sizeof(hprof_class_serial) &&
                  sizeof(MethodId) == sizeof(hprof_method_id) && sizeof(FrameId) == sizeof(hprof_frame_id) &&
                  sizeof(TraceSerial) == sizeof(hprof_trace_serial) &&
                  sizeof(ThreadSerial) == sizeof(hprof_thread_serial),
              "the ABI's numbers");

}  // namespace hprof
