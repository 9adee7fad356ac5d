// The ids service: the model's tables, filled by names from the VM.
#include "core/agent/services/service_tables.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/vm/class_book.h"
#include "core/base/atomic.h"
#include "core/model/model.h"

namespace hprof {

namespace {

ClassBook& classes_of(const hprof_host* host) { return slot_of(host)->parts->classes; }
Model& model_of(const hprof_host* host) { return slot_of(host)->parts->model; }

// Copies as much of the answer as the caller has room for; all zeros stand for what is not known.
template <typename T>
uint32_t answer(T* to, const T& known) {
  hprof_copy_sized(to, to->size, &known, sizeof(known));
  return known.size != 0 ? 1 : 0;
}

uint32_t class_info(const hprof_host* host, hprof_class_serial serial, hprof_class_info* to) {
  hprof_class_info known = {};
  if (const ClassInfo* of = model_of(host).class_info(ClassSerial{serial})) {
    known = {sizeof(known),
             of->serial,
             of->name,
             of->signature,
             load_relaxed(&of->source),
             0,
             load_relaxed(&of->object)};
  }
  return answer(to, known);
}

uint32_t method_info(const hprof_host* host, hprof_method_id id, hprof_method_info* to) {
  hprof_method_info known = {};
  if (const MethodInfo* of = model_of(host).method_info(MethodId{id}))
    known = {sizeof(known), of->owner, of->name, of->signature};
  return answer(to, known);
}

uint32_t frame_info(const hprof_host* host, hprof_frame_id id, hprof_frame_info* to) {
  hprof_frame_info known = {};
  if (const FrameInfo* of = model_of(host).frame_info(FrameId{id}))
    known = {sizeof(known), of->method, of->line};
  return answer(to, known);
}

uint32_t trace_info(const hprof_host* host, hprof_trace_serial serial, hprof_trace_info* to) {
  hprof_trace_info known = {};
  if (const TraceInfo* of = model_of(host).trace_info(TraceSerial{serial})) {
    known = {sizeof(known), of->serial, of->thread, of->frame_count, of->frames, load_relaxed(&of->flags), 0};
  }
  return answer(to, known);
}

uint32_t thread_info(const hprof_host* host, hprof_thread_serial serial, hprof_thread_info* to) {
  hprof_thread_info known = {};
  ThreadInfo of;
  if (model_of(host).threads().get(ThreadSerial{serial}, &of)) {
    known = {sizeof(known), of.serial,  of.flags, of.name, of.group, of.parent_group, 0, 0,
             of.object,     of.java_id, of.os_id};
  }
  return answer(to, known);
}

}  // namespace

const hprof_ids_service kIdsService = {
    sizeof(hprof_ids_service),
    0,
    [](const hprof_host* host, hprof_text text) {
      return text.data == nullptr
                 ? 0
                 : raw(model_of(host).string(Str(text.data, static_cast<size_t>(text.size))));
    },
    [](const hprof_host* host, hprof_thread_serial thread, const hprof_frame_id* frames, uint32_t count,
       uint32_t flags) {
      return raw(model_of(host).trace(ThreadSerial{thread}, frames, count, flags & HPROF_TRACE_CUT));
    },
    [](const hprof_host* host, const char* class_name, const char* method_name) {
      return raw(model_of(host).synthetic_frame(Str(class_name), Str(method_name)));
    },
    [](const hprof_host* host, void* jni, const hprof_raw_frame* frame, uint32_t running) {
      return classes_of(host).frame(static_cast<JNIEnv*>(jni), *frame, running != 0);
    },
    [](const hprof_host* host, void* jni, void* of) {
      return classes_of(host).class_serial(static_cast<JNIEnv*>(jni), static_cast<jclass>(of));
    },
    [](const hprof_host* host, hprof_string_id id) {
      Str text = model_of(host).text(StringId{id});
      return hprof_text{text.data, text.size};
    },
    &class_info,
    &method_info,
    &frame_info,
    &trace_info,
    &thread_info,
    [](const hprof_host* host, void* jni, void* of, hprof_object_id object) {
      return classes_of(host).dumped_class(static_cast<JNIEnv*>(jni), static_cast<jclass>(of), object);
    },
    [](const hprof_host* host, uint64_t java_id, hprof_text name) {
      Model& model = model_of(host);
      ThreadFacts facts;
      facts.name = model.thread_name(Str(name.data, static_cast<size_t>(name.size)));
      facts.flags = HPROF_THREAD_VIRTUAL;
      facts.java_id = java_id;
      const ThreadSerial serial = model.add_thread(facts);
      model.threads().end(serial);
      return raw(serial);
    },
};

}  // namespace hprof
