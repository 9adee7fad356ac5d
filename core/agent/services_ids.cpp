// The ids service: the model's tables, and the VM's names on the way in.
#include <hprof/service/ids.h>

#include "core/agent/service_tables.h"
#include "core/agent/session.h"

namespace hprof {

namespace {

Session* session_of(const hprof_host* host) { return slot_of(host)->session; }
Model& model_of(const hprof_host* host) { return slot_of(host)->session->model(); }

const hprof_ids_service kIds = {
    sizeof(hprof_ids_service),
    0,
    [](const hprof_host* host, hprof_text text) {
      return raw(model_of(host).string(Str(text.data, static_cast<size_t>(text.size))));
    },
    [](const hprof_host* host, hprof_thread_serial thread, const hprof_frame_id* frames, uint32_t count) {
      return raw(model_of(host).trace(ThreadSerial{thread}, frames, count));
    },
    [](const hprof_host* host, const char* class_name, const char* method_name) {
      return raw(model_of(host).synthetic_frame(Str(class_name), Str(method_name)));
    },
    [](const hprof_host* host, void* jni, const hprof_raw_frame* frame, uint32_t running) {
      return session_of(host)->classes().frame(static_cast<JNIEnv*>(jni), *frame, running != 0);
    },
    [](const hprof_host* host, void*, void* of) {
      return session_of(host)->classes().class_serial(static_cast<jclass>(of));
    },
    [](const hprof_host* host, hprof_string_id id) {
      Str text = model_of(host).text(StringId{id});
      return hprof_text{text.data, text.size};
    },
    [](const hprof_host* host, hprof_class_serial serial) {
      return model_of(host).class_info(ClassSerial{serial});
    },
    [](const hprof_host* host, hprof_method_id id) { return model_of(host).method_info(MethodId{id}); },
    [](const hprof_host* host, hprof_frame_id id) { return model_of(host).frame_info(FrameId{id}); },
    [](const hprof_host* host, hprof_trace_serial serial) {
      return model_of(host).trace_info(TraceSerial{serial});
    },
    [](const hprof_host* host, hprof_thread_serial serial) {
      return model_of(host).thread_info(ThreadSerial{serial});
    },
    [](const hprof_host* host, void*, void* of, hprof_object_id object) {
      return session_of(host)->classes().dumped_class(static_cast<jclass>(of), object);
    },
};

}  // namespace

const void* ids_service() { return &kIds; }

}  // namespace hprof
