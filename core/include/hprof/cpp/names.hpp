// SPDX-License-Identifier: Apache-2.0
// The look-ups of the ids service as values; each copies the members that both sides know.
#pragma once

#include <cstring>

#include <hprof/service/ids.h>

namespace hprof {

// An answer of the ids service; all members are 0 for a number that was never handed out.
template <typename T>
class Known {
 public:
  template <typename Ask>
  Known(const Ask& ask, const hprof_host* host, uint32_t number) {
    value_.size = sizeof(T);
    known_ = ask(host, number, &value_) != 0;
  }
  explicit operator bool() const { return known_; }
  const T* operator->() const { return &value_; }
  const T& operator*() const { return value_; }

 private:
  T value_ = {};
  bool known_;
};

// [any] but [signal]
inline Known<hprof_class_info> find_class(const hprof_ids_service* ids, const hprof_host* host,
                                          hprof_class_serial serial) {
  return {ids->class_info, host, serial};
}
inline Known<hprof_method_info> find_method(const hprof_ids_service* ids, const hprof_host* host,
                                            hprof_method_id id) {
  return {ids->method_info, host, id};
}
inline Known<hprof_frame_info> find_frame(const hprof_ids_service* ids, const hprof_host* host,
                                          hprof_frame_id id) {
  return {ids->frame_info, host, id};
}
inline Known<hprof_trace_info> find_trace(const hprof_ids_service* ids, const hprof_host* host,
                                          hprof_trace_serial serial) {
  return {ids->trace_info, host, serial};
}
inline Known<hprof_thread_info> find_thread(const hprof_ids_service* ids, const hprof_host* host,
                                            hprof_thread_serial serial) {
  return {ids->thread_info, host, serial};
}

// HPROF_TRACE_CUT if a trace of `count` frames reached the depth limit.
inline uint32_t trace_flags(uint32_t count, uint32_t depth) { return count >= depth ? HPROF_TRACE_CUT : 0; }

// The name of the class whose method the frame is in. [any] but [signal]
inline hprof_text class_name_of(const hprof_ids_service* ids, const hprof_host* host, hprof_frame_id frame) {
  const auto method = find_method(ids, host, find_frame(ids, host, frame)->method);
  return ids->string_text(host, find_class(ids, host, method->owner)->name);
}

inline bool begins_with(hprof_text text, const char* prefix) {
  const size_t size = std::strlen(prefix);
  return text.data != nullptr && text.size >= size && std::memcmp(text.data, prefix, size) == 0;
}

}  // namespace hprof
