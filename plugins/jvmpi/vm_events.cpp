// Translates JVMTI's rarer events: the VM's start and end, class files, compiled methods, data requests.
// Built for size.
#include <cstring>

#include "bridge.h"
#include "lines.h"

namespace hprof::jvmpi {

void Bridge::vm_init(JNIEnv* jni) {
  library.try_again();
  threads.find_all(jni);
  live_.store(true, std::memory_order_release);
  notifier.allow_calls(true);
  // No OBJECT_FREE before the object's OBJECT_ALLOC.
  collections.hold();
  objects.replay(jni);
  collections.release();
  threads.tell_all(jni);
  set_modes();
  JVMPI_Event event = {};
  notifier.send_if_on(&event, JVMPI_EVENT_JVM_INIT_DONE, jni);
  begin_buffers();
  if (notifier.is_on(JVMPI_EVENT_COMPILED_METHOD_LOAD))
    vm.jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

void Bridge::vm_death(JNIEnv* jni) {
  threads.tell_current(jni);
  collections.tell_last(jni);
  threads.ended(jni, true);
  // Handlers that still run can use all functions.
  const bool is_first = notifier.finish();
  live_.store(false, std::memory_order_release);
  if (is_first) notifier.send_last(jni);
  if (!was_asked.load(std::memory_order_relaxed))
    vm.services.log->message(vm.services.host,
                             "jvmpi: no agent has asked for JVMPI: -Xrun<agent>, or jvmpi=<agent's library>");
}

// The agent allocates new bytes by malloc_f; without new bytes the class is unchanged. Classes that probes
// call are not passed to it.
void Bridge::class_file(JNIEnv* jni, const char* name, jint size, const unsigned char* bytes, jint* new_size,
                        unsigned char** new_bytes) {
  if (!notifier.is_on(JVMPI_EVENT_CLASS_LOAD_HOOK) ||
      (name != nullptr && vm.services.probes != nullptr &&
       vm.services.probes->has_targets(vm.services.host, name) != 0))
    return;
  if (is_live()) threads.tell_current(jni);
  JVMPI_Event event = {};
  JVMPI_ClassLoadHook& hook = event.u.class_load_hook;
  auto* old = const_cast<unsigned char*>(bytes);
  hook = {old, size, old, size, [](unsigned int wanted) -> void* {
            Bridge* to = bridge();
            unsigned char* memory = nullptr;
            if (to == nullptr || to->vm.jvmti->Allocate(wanted, &memory) != JVMTI_ERROR_NONE) return nullptr;
            return memory;
          }};
  notifier.send(&event, JVMPI_EVENT_CLASS_LOAD_HOOK, jni);
  if (hook.new_class_data == nullptr || hook.new_class_data == old || hook.new_class_data_len <= 0) return;
  *new_bytes = hook.new_class_data;
  *new_size = hook.new_class_data_len;
}

// Copies the agent's bytes into the core's memory.
uint8_t* Bridge::class_file(const hprof_class_file& file, uint32_t* new_size) {
  unsigned char* made = nullptr;
  jint size = 0;
  if (file.redefined != nullptr) return nullptr;
  class_file(static_cast<JNIEnv*>(file.jni), file.name, static_cast<jint>(file.byte_count), file.bytes, &size,
             &made);
  if (made == nullptr) return nullptr;
  uint8_t* copy = file.allocate(&file, static_cast<uint32_t>(size));
  if (copy != nullptr) {
    std::memcpy(copy, made, static_cast<size_t>(size));
    *new_size = static_cast<uint32_t>(size);
  }
  vm.deallocate(made);
  return copy;
}

void Bridge::compiled(jmethodID method, jint size, const void* code, jint map_size,
                      const jvmtiAddrLocationMap* map) {
  JNIEnv* jni = vm.jni();
  if (!is_live() || jni == nullptr || !notifier.is_on(JVMPI_EVENT_COMPILED_METHOD_LOAD) ||
      classes.is_hidden(method))
    return;
  objects.tell_class_of(jni, method);
  Arena arena(vm.services);
  const Lines lines(vm, method);
  method = classes.current(jni, method);
  auto* table = map != nullptr ? arena.allocate_array<JVMPI_Lineno>(map_size) : nullptr;
  JVMPI_Event event = {};
  JVMPI_CompiledMethod& load = event.u.compiled_method_load;
  load = {method, const_cast<void*>(code), size, 0, table};
  for (jint i = 0; table != nullptr && i < map_size; i++) {
    const jint line = lines.at(map[i].location);
    if (line < 0) continue;
    const auto offset = static_cast<const char*>(map[i].start_address) - static_cast<const char*>(code);
    table[load.lineno_table_size++] = {static_cast<jint>(offset), line};
  }
  notifier.send(&event, JVMPI_EVENT_COMPILED_METHOD_LOAD, jni);
}

void Bridge::uncompiled(jmethodID method, const void* code) {
  if (!is_live() || classes.is_hidden(method)) return;
  // Agents look up the address of COMPILED_METHOD_LOAD.
  JVMPI_Event event = {};
  event.u.compiled_method_load.method_id = method;
  event.u.compiled_method_load.code_addr = const_cast<void*>(code);
  notifier.send_if_on(&event, JVMPI_EVENT_COMPILED_METHOD_UNLOAD, vm.jni());
}

void Bridge::data_request(bool dump, bool reset) {
  JNIEnv* jni = vm.jni();
  JVMPI_Event event = {};
  if (jni == nullptr) return;
  if (dump && sends(jni, JVMPI_EVENT_DATA_DUMP_REQUEST))
    notifier.send(&event, JVMPI_EVENT_DATA_DUMP_REQUEST, jni);
  if (reset && sends(jni, JVMPI_EVENT_DATA_RESET_REQUEST))
    notifier.send(&event, JVMPI_EVENT_DATA_RESET_REQUEST, jni);
}

}  // namespace hprof::jvmpi
