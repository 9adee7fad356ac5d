// SPDX-License-Identifier: Apache-2.0
// What threads work for, in tables: the labels of their contexts (service/context.h) are the outermost frames of traces.
//
// A collector makes the trace of an event with the label set of its thread, so that events of different sets are in
// different rows, and every format shows the labels. In a report, set_of() finds the set of a trace again, for a column
// (tables::with_labels). A collector has rows of up to kMostSets sets; further ones are the set labels:other.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/draft/thread_context.h>
#include <hprof/service/context.h>

namespace hprof {

class Labels {
 public:
  static constexpr uint32_t kMostSets = 256;
  static constexpr uint32_t kMostFrames = 8;  // labels of a set that are frames

  // The labels that a thread had last, and their set. Used by that thread only.
  struct Last {
    hprof_string_id labels = 0, set = 0;
  };

  // When all units have been created, before current(). [control]
  void open(const Services& services) {
    services_ = services;
    const auto* contexts = find_service<hprof_context_service>(services.host, HPROF_SERVICE_CONTEXT);
    hprof_context none = {sizeof none, 0, 0, 0, 0};
    are_on_ = HPROF_HAS(contexts, hprof_context_service, read) &&
              contexts->read(services.host, 0, &none) != HPROF_UNSUPPORTED;
    if (!are_on_) return;
    other_ = services.ids->string(services.host, {kOther, sizeof kOther - 1});
    contexts_ = contexts;
    of_java_ = find_service<hprof_thread_context_service>(services.host, HPROF_SERVICE_THREAD_CONTEXT);
    if (!HPROF_HAS(of_java_, hprof_thread_context_service, labels)) of_java_ = nullptr;
  }
  // Forgets the sets, and whom to ask, for objects that outlive a session. [control]
  void close() {
    are_on_ = false;
    of_java_ = nullptr;
    for (auto& set : sets_) set.store(0, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
    has_others_.store(false, std::memory_order_relaxed);
  }
  bool are_on() const { return are_on_; }  // a unit sets contexts [any]

  // The set of the calling Java thread, platform or virtual, as hprof.Context has it; 0: none. [app]
  hprof_string_id current(const void* jni, Last* last) {
    const hprof_string_id now = of_java_ != nullptr ? of_java_->labels(jni) : 0;
    if (now != last->labels) *last = {now, counted(now)};
    return last->set;
  }
  // Likewise, with what units have set by the service. thread: the calling thread's serial. [app]
  hprof_string_id current(const void* jni, hprof_thread_serial thread) {
    if (!are_on_) return 0;
    hprof_context context;
    if (read(thread, &context)) return counted(context.labels);
    return of_java_ != nullptr ? counted(of_java_->labels(jni)) : 0;
  }
  // That of a Java thread with that serial; jthread is a local reference. [control]
  hprof_string_id of(hprof_thread_serial thread, void* jni, void* jthread) {
    if (!are_on_) return 0;
    hprof_context context = {sizeof context, 0, 0, 0, 0};
    if (!read(thread, &context) && (of_java_ == nullptr || of_java_->of(jni, jthread, &context) == 0)) return 0;
    return counted(context.labels);
  }
  // The set under which labels count: themselves, or labels:other. Lock-free. [any] but [signal]
  hprof_string_id counted(hprof_string_id labels) {
    if (labels == 0) return 0;
    for (uint32_t at = labels;; at++) {
      std::atomic<hprof_string_id>& slot = sets_[at % kSlots];
      hprof_string_id there = slot.load(std::memory_order_relaxed);
      if (there == labels) return labels;
      if (there != 0) continue;
      if (count_.fetch_add(1, std::memory_order_relaxed) >= kMostSets) {
        count_.fetch_sub(1, std::memory_order_relaxed);
        has_others_.store(true, std::memory_order_relaxed);
        return other_;
      }
      if (slot.compare_exchange_strong(there, labels, std::memory_order_relaxed)) return labels;
      count_.fetch_sub(1, std::memory_order_relaxed);
      if (there == labels) return labels;
    }
  }
  hprof_string_id other() const { return other_; }

  // The trace of these frames, innermost first, with the set's at its root; there is room for kMostFrames more.
  // 0: no memory. [app][control]
  hprof_trace_serial trace(hprof_thread_serial thread, hprof_frame_id* frames, uint32_t count, uint32_t flags,
                           hprof_string_id set) const {
    if (set != 0) count += add_frames(set, frames + count);
    return services_.ids->trace(services_.host, thread, frames, count, flags);
  }
  // The trace with the set's frames at its root; itself without a set or memory. [control]
  hprof_trace_serial rooted(hprof_trace_serial serial, hprof_string_id set) const {
    if (set == 0) return serial;
    const auto known = find_trace(services_.ids, services_.host, serial);
    const uint64_t room = uint64_t{known->frame_count} + kMostFrames;
    auto* frames = services_.allocate<hprof_frame_id>(room);
    if (frames == nullptr) return serial;
    if (known->frame_count != 0)
      std::memcpy(frames, known->frames, sizeof(hprof_frame_id) * known->frame_count);
    const hprof_trace_serial made = trace(known->thread, frames, known->frame_count, known->flags, set);
    services_.release(frames, room);
    return made != 0 ? made : serial;
  }
  // The set at the root of a trace; 0: none. [control]
  hprof_string_id set_of(hprof_trace_serial serial) const {
    if (!are_on_) return 0;
    TextLine<kMostText> set;
    const auto known = find_trace(services_.ids, services_.host, serial);
    for (uint32_t i = known->frame_count; i != 0; i--) {
      const hprof_frame_id frame = known->frames[i - 1];
      const hprof_text owner = class_name_of(services_.ids, services_.host, frame);
      if (owner.size != std::strlen(kClass) || !begins_with(owner, kClass)) break;
      const auto method =
          find_method(services_.ids, services_.host, find_frame(services_.ids, services_.host, frame)->method);
      const hprof_text name = services_.ids->string_text(services_.host, method->name);
      if (set.size() != 0) set.add(";");
      set.add(name.data, name.size);
    }
    return set.size() != 0 ? services_.ids->string(services_.host, {set.c_str(), set.size()}) : 0;
  }
  // Says in a note that there are further sets, if so. [control]
  void add_others(TextBuffer* note) const {
    if (!has_others_.load(std::memory_order_relaxed)) return;
    note->add("; label sets beyond ").add(uint64_t{kMostSets}).add(" are in rows of ").add(kOther);
  }

 private:
  static constexpr char kOther[] = "labels:other";
  static constexpr const char* kClass = "LABEL";
  static constexpr uint32_t kSlots = kMostSets * 2, kMostText = 512;

  bool read(hprof_thread_serial thread, hprof_context* context) const {
    *context = {sizeof *context, 0, 0, 0, 0};
    return thread != 0 && contexts_->read(services_.host, thread, context) == HPROF_OK;
  }
  // Returns how many. The first label of the set becomes the outermost frame.
  uint32_t add_frames(hprof_string_id set, hprof_frame_id* frames) const {
    const hprof_text text = services_.ids->string_text(services_.host, set);
    TextLine<kMostText> list, name;
    list.add(text.data, text.size);
    uint32_t count = 0;
    hprof_frame_id found[kMostFrames];
    each_pair(list.c_str(), ':', ";", [&](hprof_text key, hprof_text value) {
      if (count == kMostFrames) return;
      name.clear();
      name.add(key.data, key.size).add(":").add(value.data, value.size);
      found[count++] = services_.ids->synthetic_frame(services_.host, kClass, name.c_str());
    });
    for (uint32_t i = 0; i < count; i++) frames[i] = found[count - 1 - i];
    return count;
  }

  Services services_;
  bool are_on_ = false;
  const hprof_context_service* contexts_ = nullptr;
  const hprof_thread_context_service* of_java_ = nullptr;  // null: there are none
  hprof_string_id other_ = 0;
  std::atomic<bool> has_others_{false};
  std::atomic<uint32_t> count_{0};
  std::atomic<hprof_string_id> sets_[kSlots] = {};  // a hash table, half of it free
};

}  // namespace hprof
