// SPDX-License-Identifier: Apache-2.0
// A collector as a class: the tables of the ABI, made of its member functions.
//
// A class T has a constructor T(host, config), or T(host) where there is no Config, and report(const hprof_report&).
// It may also have any of these:
//   hprof_status open(char* error, uint32_t error_size)   the part of create that may fail
//   start, stop, reset, control, reported                 as in hprof_collector_ops
//   bool close()                                          before it is destroyed; false: a thread of its own or a
//                                                         probe may still run, its memory stays
//   handlers, by their names in hprof_handlers            with all arguments; what the ABI passes as void* arrives as
//                                                         the pointer that the function takes (JNIEnv*, jobject)
// All of them are public and not overloaded; a handler that is not found is not subscribed. Exceptions that they throw
// are caught here; a function with a status then answers HPROF_FAILED (contained.hpp).
#pragma once

#include <hprof/collector.h>
#include <hprof/cpp/unit.hpp>

namespace hprof {

#define HPROF_FOR_EACH_HANDLER(X)                                     \
  X(vm_init, HPROF_EVENT_VM_INIT)                                     \
  X(thread_start, HPROF_EVENT_THREAD_START)                           \
  X(thread_end, HPROF_EVENT_THREAD_END)                               \
  X(class_prepare, HPROF_EVENT_CLASS_PREPARE)                         \
  X(gc_start, HPROF_EVENT_GC_START)                                   \
  X(gc_finish, HPROF_EVENT_GC_FINISH)                                 \
  X(monitor_contended_enter, HPROF_EVENT_MONITOR_CONTENDED_ENTER)     \
  X(monitor_contended_entered, HPROF_EVENT_MONITOR_CONTENDED_ENTERED) \
  X(monitor_wait, HPROF_EVENT_MONITOR_WAIT)                           \
  X(monitor_waited, HPROF_EVENT_MONITOR_WAITED)                       \
  X(vm_object_alloc, HPROF_EVENT_VM_OBJECT_ALLOC)                     \
  X(sampled_object_alloc, HPROF_EVENT_SAMPLED_OBJECT_ALLOC)           \
  X(class_load, HPROF_EVENT_CLASS_LOAD)                               \
  X(class_unload, HPROF_EVENT_CLASS_UNLOAD)                           \
  X(vm_death, HPROF_EVENT_VM_DEATH)

namespace collector_detail {

using namespace unit_detail;

#define HPROF_DETECT_HANDLER(member, event) HPROF_DETECT(member)
HPROF_FOR_EACH_HANDLER(HPROF_DETECT_HANDLER)
#undef HPROF_DETECT_HANDLER
HPROF_DETECT(start)
HPROF_DETECT(stop)
HPROF_DETECT(reset)
HPROF_DETECT(control)
HPROF_DETECT(reported)

inline constexpr hprof_status kFailed = HPROF_FAILED;

// An argument that the ABI passes as void*; it converts to the pointer type that the function takes.
struct Opaque {
  void* pointer;
  template <class P>
  operator P*() const {
    return static_cast<P*>(pointer);
  }
};
inline Opaque pass(void* pointer) { return {pointer}; }
template <class A>
A pass(A argument) {
  return argument;
}

template <class T, auto kMember, class... A>
constexpr void subscribe(void (*&entry)(void*, A...)) {
  entry = [](void* self, A... arguments) {
    contained_in<T>(self, [&](T& unit) { (unit.*kMember)(pass(arguments)...); });
  };
}

template <class T>
constexpr hprof_handlers handlers_of() {
  hprof_handlers table = {};
  table.size = sizeof table;
#define HPROF_SUBSCRIBE(member, event) \
  if constexpr (Has_##member<T>::value) subscribe<T, &T::member>(table.member);
  HPROF_FOR_EACH_HANDLER(HPROF_SUBSCRIBE)
#undef HPROF_SUBSCRIBE
  return table;
}

template <class T>
constexpr uint64_t events_of() {
  uint64_t events = 0;
#define HPROF_ADD_EVENT(member, event) events |= Has_##member<T>::value ? event : 0;
  HPROF_FOR_EACH_HANDLER(HPROF_ADD_EVENT)
#undef HPROF_ADD_EVENT
  return events;
}

template <class T>
inline constexpr hprof_handlers kHandlers = handlers_of<T>();

template <class T, class Config>
constexpr hprof_collector_ops ops_of() {
  hprof_collector_ops ops = {};
  ops.size = sizeof ops;
  ops.create = create<T, Config>;
  ops.start = [](void* self) {
    if constexpr (Has_start<T>::value) {
      return contained_in<T>(self, kFailed, [](T& unit) { return unit.start(); });
    }
    (void)self;
    return hprof_status{HPROF_OK};
  };
  ops.report = [](void* self, const hprof_report* report) {
    return contained_in<T>(self, kFailed, [&](T& unit) { return unit.report(*report); });
  };
  ops.reset = [](void* self) {
    if constexpr (Has_reset<T>::value) contained_in<T>(self, [](T& unit) { unit.reset(); });
    (void)self;
  };
  ops.stop = [](void* self) {
    if constexpr (Has_stop<T>::value) contained_in<T>(self, [](T& unit) { unit.stop(); });
    (void)self;
  };
  ops.destroy = destroy<T>;
  ops.control = [](void* self, const hprof_control* control) {
    if constexpr (Has_control<T>::value) {
      return contained_in<T>(self, kFailed, [&](T& unit) { return unit.control(*control); });
    }
    (void)self;
    (void)control;
    return hprof_status{HPROF_UNSUPPORTED};
  };
  if constexpr (events_of<T>() != 0) ops.handlers = &kHandlers<T>;
  if constexpr (Has_reported<T>::value) {
    ops.reported = [](void* self) { contained_in<T>(self, [](T& unit) { unit.reported(); }); };
  }
  return ops;
}

template <class T, class Config>
inline constexpr hprof_collector_ops kOps = ops_of<T, Config>();

}  // namespace collector_detail
#undef HPROF_FOR_EACH_HANDLER

// The unit of a collector class, with the events that it has handlers for, the records that it emits and its options;
// the caller adds what else it needs and wants.
template <class T, class Config = void>
constexpr hprof_unit collector_unit(const char* id, const char* select, const char* summary,
                                    const char* const* records = nullptr, OptionRows options = {}) {
  hprof_unit unit = unit_detail::unit_of<Config>(HPROF_UNIT_COLLECTOR, id, select, summary, records, options,
                                                 &collector_detail::kOps<T, Config>);
  unit.events = collector_detail::events_of<T>();
  return unit;
}

}  // namespace hprof
