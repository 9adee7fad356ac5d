// SPDX-License-Identifier: Apache-2.0
// What the thread of an event works for: its context (service/context.h), in columns behind those of the event.
//
//   static constexpr auto kColumns = tables::with_context(kEventColumns);
//   emit_event(services, contexts.are_on() ? kWithContext : kEvents, tables::with_context(row, context));
#pragma once

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/draft/thread_context.h>
#include <hprof/service/context.h>

namespace hprof {

namespace tables {

constexpr hprof_column kContext[] = {
    {"trace_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
    {"trace_id_low", nullptr, HPROF_COLUMN_ID, HPROF_COLUMN_CONTINUED, nullptr, nullptr},
    {"span_id", nullptr, HPROF_COLUMN_ID, 0, nullptr, nullptr},
    kLabels,
};
constexpr uint32_t kContextCells = sizeof kContext / sizeof kContext[0];

template <size_t n>
struct ContextColumns {
  hprof_column at[n + kContextCells];
};
template <size_t n>
constexpr ContextColumns<n> with_context(const hprof_column (&columns)[n]) {
  ContextColumns<n> made = {};
  for (size_t i = 0; i < n; i++) made.at[i] = columns[i];
  for (size_t i = 0; i < kContextCells; i++) made.at[n + i] = kContext[i];
  return made;
}
// A row of such a table.
template <class Row>
struct WithContext : Row {
  uint64_t trace_high, trace_low, span;
  uint64_t labels;  // hprof_string_id
};
template <class Row>
WithContext<Row> with_context(const Row& row, const hprof_context& context) {
  return {row, context.trace_high, context.trace_low, context.span, context.labels};
}

}  // namespace tables

class Contexts {
 public:
  // When all units have been created. [control]
  void open(const Services& services) {
    host_ = services.host;
    const auto* service = find_service<hprof_context_service>(host_, HPROF_SERVICE_CONTEXT);
    hprof_context none = {sizeof none, 0, 0, 0, 0};
    are_on_ = HPROF_HAS(service, hprof_context_service, read) &&
              service->read(host_, 0, &none) != HPROF_UNSUPPORTED;
    of_threads_ = service;
    of_java_ = find_service<hprof_thread_context_service>(host_, HPROF_SERVICE_THREAD_CONTEXT);
  }
  bool are_on() const { return are_on_; }  // a unit sets contexts [any]

  // The context of the calling thread, whose serial may be 0, or of the virtual thread that it runs; all zeros: none.
  // [signal][app]
  hprof_context current(hprof_thread_serial thread, const void* jni) const {
    hprof_context context = {sizeof context, 0, 0, 0, 0};
    if (are_on_ && !read(thread, &context) && of_java_ != nullptr && jni != nullptr)
      of_java_->running(jni, &context);
    return context;
  }
  // That of the Java thread behind a local reference, which may be null. [control]
  hprof_context of(hprof_thread_serial thread, void* jni, void* jthread) const {
    hprof_context context = {sizeof context, 0, 0, 0, 0};
    if (are_on_ && !read(thread, &context) && of_java_ != nullptr && jthread != nullptr)
      of_java_->of(jni, jthread, &context);
    return context;
  }

 private:
  bool read(hprof_thread_serial thread, hprof_context* context) const {
    return thread != 0 && of_threads_->read(host_, thread, context) == HPROF_OK;
  }

  const hprof_host* host_ = nullptr;
  bool are_on_ = false;
  const hprof_context_service* of_threads_ = nullptr;
  const hprof_thread_context_service* of_java_ = nullptr;
};

}  // namespace hprof
