// RequestEvent and GetCallTrace.
#include <hprof/cpp/text.hpp>

#include "bridge.h"
#include "heap_dump.h"
#include "lines.h"
#include "monitor_dump_event.h"

namespace hprof::jvmpi {

bool Bridge::check_id(jobjectID id) {
  if (ids.was_given(number_of_id(id))) return true;
  count_loss(unknown_ids_);
  return false;
}

// Agents seldom print refusals. Each refused heap dump is printed, of other types the first.
bool Bridge::refuse(jint type, const char* why) {
  const uint64_t bit = uint64_t{1} << (type & 63);
  if (type != JVMPI_EVENT_HEAP_DUMP && (refused_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0)
    return false;
  TextLine<300> line;
  line.add("jvmpi: the agent's request for event ")
      .add(static_cast<uint64_t>(type))
      .add(" failed: ")
      .add(why);
  vm.services.log->message(vm.services.host, line.c_str());
  return false;
}

jint Bridge::request(jint type, void* argument) {
  JNIEnv* jni = vm.jni();
  const bool is_request = type == JVMPI_EVENT_CLASS_LOAD || type == JVMPI_EVENT_THREAD_START ||
                          type == JVMPI_EVENT_OBJECT_ALLOC || type == JVMPI_EVENT_MONITOR_DUMP ||
                          type == JVMPI_EVENT_HEAP_DUMP || type == JVMPI_EVENT_OBJECT_DUMP;
  if (!is_request) return JVMPI_NOT_AVAILABLE;
  if (!(is_live() || notifier.is_ending()) || jni == nullptr) {
    refuse(type, jni == nullptr ? "the VM does not know the thread"
                                : "it came before JVM_INIT_DONE, or after JVM_SHUT_DOWN");
    return JVMPI_FAIL;
  }
  const auto id = static_cast<jobjectID>(argument);
  bool sent = false;
  switch (type) {
    case JVMPI_EVENT_CLASS_LOAD:
      sent = check_id(id) && classes.tell_again(jni, id);
      break;
    case JVMPI_EVENT_THREAD_START:
      sent = check_id(id) && threads.tell_again(jni, id);
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      sent = check_id(id) && objects.tell_again(jni, id);
      break;
    default:
      sent = dump(jni, type, argument);
      break;
  }
  return sent ? JVMPI_SUCCESS : JVMPI_FAIL;
}

bool Bridge::dump_monitors(JNIEnv* jni) {
  MonitorDumpEvent dump(this, jni);
  JVMPI_Event event = {};
  if (!dump.take(&event.u.monitor_dump))
    return refuse(JVMPI_EVENT_MONITOR_DUMP, "no memory, or the VM does not list its threads");
  notifier.send(&event, JVMPI_EVENT_MONITOR_DUMP | JVMPI_REQUESTED_EVENT, jni);
  return true;
}

// In the agent's handler the event's pointers are valid, and its ids afterwards, too.
bool Bridge::send_dump(const HeapDump& dump, JVMPI_Event* event, jint type, JNIEnv* jni, bool taken) {
  if (!taken) {
    TextLine<240> why;
    dump.explain(&why);
    return refuse(type, why.c_str());
  }
  const uint64_t most = vm.services.settings().max_memory;
  if (most != 0 && dump.size() > most && !said_beyond_.exchange(true, std::memory_order_relaxed)) {
    constexpr uint64_t kMiB = 1u << 20;
    TextLine<200> line;
    line.add("jvmpi: a heap dump for the agent takes ")
        .add(dump.size() / kMiB)
        .add(" MiB, beyond max-memory=")
        .add(most / kMiB)
        .add("m, until its handler returns");
    vm.services.log->message(vm.services.host, line.c_str());
  }
  notifier.send(event, type | JVMPI_REQUESTED_EVENT, jni);
  return true;
}

bool Bridge::dump_heap(JNIEnv* jni, const JVMPI_HeapDumpArg* argument) {
  const jint level = argument != nullptr ? argument->heap_dump_level : jint{JVMPI_DUMP_LEVEL_2};
  if (level < JVMPI_DUMP_LEVEL_0 || level > JVMPI_DUMP_LEVEL_2)
    return refuse(JVMPI_EVENT_HEAP_DUMP, "its level is none of 0, 1 and 2");
  HeapDump dump(this, jni, level);
  JVMPI_Event event = {};
  const bool taken = dump.take_heap(&event.u.heap_dump);
  return send_dump(dump, &event, JVMPI_EVENT_HEAP_DUMP, jni, taken);
}

bool Bridge::dump_object(JNIEnv* jni, jobjectID id) {
  Local<jobject> object(jni, check_id(id) ? objects.find(jni, id) : nullptr);
  if (object == nullptr) return false;
  HeapDump dump(this, jni, JVMPI_DUMP_LEVEL_2);
  JVMPI_Event event = {};
  const bool taken = dump.take_object(object, &event.u.object_dump.data_len, &event.u.object_dump.data);
  return send_dump(dump, &event, JVMPI_EVENT_OBJECT_DUMP, jni, taken);
}

bool Bridge::dump(JNIEnv* jni, jint type, void* argument) {
  const LocalFrame locals(jni, LocalFrame::kMost);
  if (!locals.is_open()) return refuse(type, "the VM has no room for local references");
  collections.hold();
  const bool sent = type == JVMPI_EVENT_MONITOR_DUMP ? dump_monitors(jni)
                    : type == JVMPI_EVENT_HEAP_DUMP
                        ? dump_heap(jni, static_cast<const JVMPI_HeapDumpArg*>(argument))
                        : dump_object(jni, static_cast<jobjectID>(argument));
  collections.release();
  return sent;
}

void Bridge::get_call_trace(JVMPI_CallTrace* trace, jint depth) {
  JNIEnv* jni = vm.jni();
  if (jni == nullptr || trace->env_id == nullptr || depth <= 0) return;
  Local<jthread> thread(jni, trace->env_id != jni ? threads.object(jni, trace->env_id) : nullptr);
  if (trace->env_id != jni && thread == nullptr) return;
  constexpr jint kFrames = 64;
  jvmtiFrameInfo frames[kFrames];
  // In parts: a running thread may enter and leave methods meanwhile, as in the VMs of that time.
  bool inside = false;
  for (jint at = 0; trace->num_frames < depth;) {
    jint count = 0;
    if (vm.jvmti->GetStackTrace(thread, at, kFrames, frames, &count) != JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < count && trace->num_frames < depth; i++) {
      // Frames of other collectors' probes are above the program's frames.
      if (!inside && classes.is_hidden(frames[i].method)) continue;
      inside = true;
      constexpr jint kNative = -3;
      const jint line = frames[i].location < 0 ? kNative : Lines(vm, frames[i].method).at(frames[i].location);
      trace->frames[trace->num_frames++] = {line, classes.current(jni, frames[i].method)};
    }
    if (count < kFrames) return;
    at += count;
  }
}

}  // namespace hprof::jvmpi
